"""Kernels written by hand, on which the interpreter and the assembling of GPU code are tested."""

from __future__ import annotations

DECLARATIONS = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
"""

#: ``%i``, the number of the thread in the grid, and ``%tid``, that in its block.
NUMBER = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %before = mul i32 %ctaid, %ntid
  %i32 = add i32 %before, %tid
  %i = zext i32 %i32 to i64
"""

#: y = a x + y
SAXPY = f"""{DECLARATIONS}
define ptx_kernel void @saxpy(double %a, ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %n) {{
entry:{NUMBER}
  %in = icmp slt i64 %i, %n
  br i1 %in, label %do, label %end
do:
  %px = getelementptr inbounds double, ptr addrspace(1) %x, i64 %i
  %py = getelementptr inbounds double, ptr addrspace(1) %y, i64 %i
  %vx = load double, ptr addrspace(1) %px
  %vy = load double, ptr addrspace(1) %py
  %m = fmul double %a, %vx
  %r = fadd double %m, %vy
  store double %r, ptr addrspace(1) %py
  br label %end
end:
  ret void
}}
"""

#: sums[block] = the sum of the block's x: by shuffles in warps, then by shared memory.
BLOCK_SUM = f"""{DECLARATIONS}
@partial = internal addrspace(3) global [32 x double] undef, align 8

define double @down(double %x, i32 %distance) alwaysinline {{
  %bits = bitcast double %x to i64
  %low = trunc i64 %bits to i32
  %shifted = lshr i64 %bits, 32
  %high = trunc i64 %shifted to i32
  %l = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %low, i32 %distance, i32 31)
  %h = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %high, i32 %distance, i32 31)
  %l64 = zext i32 %l to i64
  %h64 = zext i32 %h to i64
  %up = shl nuw i64 %h64, 32
  %both = or disjoint i64 %up, %l64
  %r = bitcast i64 %both to double
  ret double %r
}}

define double @warp_sum(double %x) {{
entry:
  br label %halve
halve:
  %distance = phi i32 [ 16, %entry ], [ %half, %halve ]
  %sum = phi double [ %x, %entry ], [ %next, %halve ]
  %other = call double @down(double %sum, i32 %distance)
  %next = fadd double %sum, %other
  %half = lshr i32 %distance, 1
  %more = icmp ne i32 %half, 0
  br i1 %more, label %halve, label %end
end:
  ret double %next
}}

define ptx_kernel void @block_sum(ptr addrspace(1) %x, ptr addrspace(1) %sums) {{
entry:{NUMBER}
  %p = getelementptr double, ptr addrspace(1) %x, i64 %i
  %v = load double, ptr addrspace(1) %p
  %s = call double @warp_sum(double %v)
  %lane = and i32 %tid, 31
  %warp = lshr i32 %tid, 5
  %slot = getelementptr [32 x double], ptr addrspace(3) @partial, i64 0, i32 %warp
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %keep, label %meet
keep:
  store double %s, ptr addrspace(3) %slot
  br label %meet
meet:
  BARRIER
  %in.first.warp = icmp ult i32 %tid, 32
  br i1 %in.first.warp, label %combine, label %end
combine:
  %warps = lshr i32 %ntid, 5
  %has = icmp ult i32 %tid, %warps
  %chosen = select i1 %has, i32 %tid, i32 0
  %mine = getelementptr [32 x double], ptr addrspace(3) @partial, i64 0, i32 %chosen
  %partial = load double, ptr addrspace(3) %mine
  %part = select i1 %has, double %partial, double 0.0
  %total = call double @warp_sum(double %part)
  %leads = icmp eq i32 %tid, 0
  br i1 %leads, label %write, label %end
write:
  %to = getelementptr double, ptr addrspace(1) %sums, i32 %ctaid
  store double %total, ptr addrspace(1) %to
  br label %end
end:
  ret void
}}
""".replace("BARRIER", "call void @llvm.nvvm.barrier0()")

#: steps[i] = how many steps Collatz's sequence from start[i] takes to 1.
COLLATZ = f"""{DECLARATIONS}
define ptx_kernel void @collatz(ptr addrspace(1) %start, ptr addrspace(1) %steps) {{
entry:{NUMBER}
  %p = getelementptr i64, ptr addrspace(1) %start, i64 %i
  %first = load i64, ptr addrspace(1) %p
  br label %test
test:
  %x = phi i64 [ %first, %entry ], [ %halved, %even ], [ %grown, %odd ]
  %count = phi i32 [ 0, %entry ], [ %counted, %even ], [ %counted, %odd ]
  %done = icmp sle i64 %x, 1
  br i1 %done, label %end, label %step
step:
  %counted = add nsw i32 %count, 1
  %low = trunc i64 %x to i1
  br i1 %low, label %odd, label %even
even:
  %halved = sdiv exact i64 %x, 2
  br label %test
odd:
  %tripled = mul nsw i64 %x, 3
  %grown = add nsw i64 %tripled, 1
  br label %test
end:
  %q = getelementptr i32, ptr addrspace(1) %steps, i64 %i
  store i32 %count, ptr addrspace(1) %q
  ret void
}}
"""

#: counts[bin[i]] += 1, and sums[bin[i]] += x[i], atomically; order[i] = what counts was.
HISTOGRAM = f"""{DECLARATIONS}
define ptx_kernel void @histogram(ptr %bin, ptr %x, ptr %counts, ptr %sums, ptr %order) {{
entry:{NUMBER}
  %p = getelementptr i8, ptr %bin, i64 %i
  %b = load i8, ptr %p
  %q = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %q
  %c = getelementptr i32, ptr %counts, i8 %b
  %was = atomicrmw add ptr %c, i32 1 monotonic
  %s = getelementptr double, ptr %sums, i8 %b
  %unused = atomicrmw fadd ptr %s, double %v monotonic
  %o = getelementptr i32, ptr %order, i64 %i
  store i32 %was, ptr %o
  ret void
}}
"""

#: greatest = the greatest x[i], by an exchange that each thread repeats until it is not greater.
GREATEST = f"""{DECLARATIONS}
define {{ double, i64 }} @both(double %x) {{
  %bits = bitcast double %x to i64
  %one = insertvalue {{ double, i64 }} poison, double %x, 0
  %two = insertvalue {{ double, i64 }} %one, i64 %bits, 1
  ret {{ double, i64 }} %two
}}

define ptx_kernel void @greatest(ptr %x, ptr %greatest) {{
entry:{NUMBER}
  %p = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %p
  %pair = call {{ double, i64 }} @both(double %v)
  %mine = extractvalue {{ double, i64 }} %pair, 0
  %bits = extractvalue {{ double, i64 }} %pair, 1
  br label %again
again:
  %seen = phi i64 [ -4503599627370496, %entry ], [ %found, %exchange ]
  %there = bitcast i64 %seen to double
  %more = fcmp ogt double %mine, %there
  br i1 %more, label %exchange, label %end
exchange:
  %result = cmpxchg ptr %greatest, i64 %seen, i64 %bits monotonic monotonic
  %found = extractvalue {{ i64, i1 }} %result, 0
  %success = extractvalue {{ i64, i1 }} %result, 1
  br i1 %success, label %end, label %again
end:
  ret void
}}
"""

#: to[i] = table[i mod 4] + a local copy of x[i], as pairs.
PAIRS = f"""{DECLARATIONS}
@table = internal addrspace(1) constant [4 x double] [
  double 1.0, double 2.0, double 0x7FF0000000000000, double -4.0]
@other = internal constant [2 x [2 x i16]] [[2 x i16] [i16 1, i16 2], [2 x i16] [i16 3, i16 4]]

define ptx_kernel void @pairs(ptr addrspace(1) %x, ptr addrspace(1) %to) {{
entry:{NUMBER}
  %local = alloca [2 x double], align 16
  %p = getelementptr <2 x double>, ptr addrspace(1) %x, i64 %i
  %v = load <2 x double>, ptr addrspace(1) %p, align 16
  store <2 x double> %v, ptr %local, align 16
  %second = getelementptr [2 x double], ptr %local, i64 0, i64 1
  %b = load double, ptr %second
  %a = load double, ptr %local
  %k = and i64 %i, 3
  %t = getelementptr [4 x double], ptr addrspace(1) @table, i64 0, i64 %k
  %c = load double, ptr addrspace(1) %t
  %four = load i16, ptr getelementptr ([2 x [2 x i16]], ptr @other, i64 0, i64 1, i64 1)
  %f = sitofp i16 %four to double
  %both = insertelement <2 x double> poison, double %b, i64 0
  %pair = insertelement <2 x double> %both, double %a, i64 1
  %one = insertelement <2 x double> poison, double %c, i64 0
  %cs = shufflevector <2 x double> %one, <2 x double> poison, <2 x i32> zeroinitializer
  %sum = fadd <2 x double> %pair, %cs
  %scaled = fmul <2 x double> %sum, splat (double 2.0)
  %low = extractelement <2 x double> %scaled, i64 0
  %less = fadd double %low, %f
  %r = insertelement <2 x double> %scaled, double %less, i64 0
  %q = getelementptr <2 x double>, ptr addrspace(1) %to, i64 %i
  store <2 x double> %r, ptr addrspace(1) %q, align 16
  ret void
}}
"""

#: x[i] = x[n - 1 - i] within each block, through shared memory of a size given at the launch.
REVERSE = f"""{DECLARATIONS}
@held = external addrspace(3) global [0 x float], align 4

define ptx_kernel void @reverse(ptr addrspace(1) %x) {{
entry:{NUMBER}
  %p = getelementptr float, ptr addrspace(1) %x, i64 %i
  %v = load float, ptr addrspace(1) %p
  %slot = getelementptr float, ptr addrspacecast (ptr addrspace(3) @held to ptr), i32 %tid
  store float %v, ptr %slot
  call void @llvm.nvvm.barrier0()
  %last = sub i32 %ntid, 1
  %from = sub i32 %last, %tid
  %other = getelementptr float, ptr addrspacecast (ptr addrspace(3) @held to ptr), i32 %from
  %w = load float, ptr %other
  store float %w, ptr addrspace(1) %p
  ret void
}}
"""

ALL = {
    "saxpy": SAXPY,
    "block_sum": BLOCK_SUM,
    "collatz": COLLATZ,
    "histogram": HISTOGRAM,
    "greatest": GREATEST,
    "pairs": PAIRS,
    "reverse": REVERSE,
}
