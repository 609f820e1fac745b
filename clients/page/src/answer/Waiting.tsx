/** Says that an answer takes long; empty otherwise, so that screen readers hear it when it appears. */

export function Waiting({ isSlow }: { isSlow: boolean }) {
  return (
    <p class="quiet waiting" role="status">
      {isSlow && "Computing…"}
    </p>
  );
}
