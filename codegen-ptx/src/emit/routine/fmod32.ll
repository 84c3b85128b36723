; C's fmod: exact, with the dividend's sign. Long division on the mantissas, one bit of the quotient per round.
define internal float @$$fmod32(float %x, float %y) noinline nounwind {
entry:
  %ux = bitcast float %x to i32
  %uy = bitcast float %y to i32
  %ax = and i32 %ux, 2147483647
  %ay = and i32 %uy, 2147483647
  %sign = xor i32 %ux, %ax
  %zero = icmp eq i32 %ay, 0
  %ynan = icmp ugt i32 %ay, 2139095040
  %xbad = icmp uge i32 %ax, 2139095040
  %bad0 = or i1 %zero, %ynan
  %bad = or i1 %bad0, %xbad
  br i1 %bad, label %nan, label %compare
nan: ; the product keeps a NaN operand; infinity or 0 over itself makes one
  %product = fmul float %x, %y
  %nothing = fdiv float %product, %product
  ret float %nothing
compare:
  %less = icmp ult i32 %ax, %ay
  br i1 %less, label %small, label %divide
small:
  ret float %x
divide: ; mantissas with the leading bit at 23, exponents as for normal numbers
  %ex0 = lshr i32 %ax, 23
  %ey0 = lshr i32 %ay, 23
  %fx = and i32 %ax, 8388607
  %fy = and i32 %ay, 8388607
  %nx = or i32 %fx, 8388608
  %ny = or i32 %fy, 8388608
  %lx0 = call i32 @llvm.ctlz.i32(i32 %ax, i1 false)
  %ly0 = call i32 @llvm.ctlz.i32(i32 %ay, i1 false)
  %lx = sub i32 %lx0, 8
  %ly = sub i32 %ly0, 8
  %dx = icmp eq i32 %ex0, 0
  %dy = icmp eq i32 %ey0, 0
  %lx1 = select i1 %dx, i32 %lx, i32 0
  %ly1 = select i1 %dy, i32 %ly, i32 0
  %sx = shl i32 %ax, %lx1
  %sy = shl i32 %ay, %ly1
  %mx = select i1 %dx, i32 %sx, i32 %nx
  %my = select i1 %dy, i32 %sy, i32 %ny
  %tx = sub i32 1, %lx1
  %ty = sub i32 1, %ly1
  %ex = select i1 %dx, i32 %tx, i32 %ex0
  %ey = select i1 %dy, i32 %ty, i32 %ey0
  %distance = sub i32 %ex, %ey
  br label %head
head: ; the remainder is below twice the divisor here
  %rest = phi i32 [ %mx, %divide ], [ %doubled, %body ]
  %left = phi i32 [ %distance, %divide ], [ %left1, %body ]
  %fits = icmp uge i32 %rest, %my
  %less_one = sub i32 %rest, %my
  %rest1 = select i1 %fits, i32 %less_one, i32 %rest
  %done = icmp eq i32 %left, 0
  br i1 %done, label %exit, label %body
body:
  %doubled = shl i32 %rest1, 1
  %left1 = sub i32 %left, 1
  br label %head
exit:
  %none = icmp eq i32 %rest1, 0
  %lead0 = call i32 @llvm.ctlz.i32(i32 %rest1, i1 false)
  %lead = sub i32 %lead0, 8
  %lead1 = select i1 %none, i32 0, i32 %lead
  %scaled = shl i32 %rest1, %lead1
  %e = sub i32 %ey, %lead1
  %normal = icmp sgt i32 %e, 0
  %frac = and i32 %scaled, 8388607
  %e1 = select i1 %normal, i32 %e, i32 0
  %top = shl i32 %e1, 23
  %big = or i32 %frac, %top
  %down0 = sub i32 1, %e
  %down = select i1 %normal, i32 0, i32 %down0
  %tiny = lshr i32 %scaled, %down
  %magnitude = select i1 %normal, i32 %big, i32 %tiny
  %some = select i1 %none, i32 0, i32 %magnitude
  %signed = or i32 %some, %sign
  %value = bitcast i32 %signed to float
  ret float %value
}
