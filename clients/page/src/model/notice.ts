/** What people should know of this page itself: a damaged link, a file that cannot be read. */

import { signal } from "@preact/signals";

export const notice = signal<string | null>(null);
