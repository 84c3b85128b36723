; C's fmod: exact, with the dividend's sign. Long division on the mantissas, one bit of the quotient per round.
define internal double @$$fmod64(double %x, double %y) noinline nounwind {
entry:
  %ux = bitcast double %x to i64
  %uy = bitcast double %y to i64
  %ax = and i64 %ux, 9223372036854775807
  %ay = and i64 %uy, 9223372036854775807
  %sign = xor i64 %ux, %ax
  %zero = icmp eq i64 %ay, 0
  %ynan = icmp ugt i64 %ay, 9218868437227405312
  %xbad = icmp uge i64 %ax, 9218868437227405312
  %bad0 = or i1 %zero, %ynan
  %bad = or i1 %bad0, %xbad
  br i1 %bad, label %nan, label %compare
nan: ; the product keeps a NaN operand; infinity or 0 over itself makes one
  %product = fmul double %x, %y
  %nothing = fdiv double %product, %product
  ret double %nothing
compare:
  %less = icmp ult i64 %ax, %ay
  br i1 %less, label %small, label %divide
small:
  ret double %x
divide: ; mantissas with the leading bit at 52, exponents as for normal numbers
  %ex0 = lshr i64 %ax, 52
  %ey0 = lshr i64 %ay, 52
  %fx = and i64 %ax, 4503599627370495
  %fy = and i64 %ay, 4503599627370495
  %nx = or i64 %fx, 4503599627370496
  %ny = or i64 %fy, 4503599627370496
  %lx0 = call i64 @llvm.ctlz.i64(i64 %ax, i1 false)
  %ly0 = call i64 @llvm.ctlz.i64(i64 %ay, i1 false)
  %lx = sub i64 %lx0, 11
  %ly = sub i64 %ly0, 11
  %dx = icmp eq i64 %ex0, 0
  %dy = icmp eq i64 %ey0, 0
  %lx1 = select i1 %dx, i64 %lx, i64 0
  %ly1 = select i1 %dy, i64 %ly, i64 0
  %sx = shl i64 %ax, %lx1
  %sy = shl i64 %ay, %ly1
  %mx = select i1 %dx, i64 %sx, i64 %nx
  %my = select i1 %dy, i64 %sy, i64 %ny
  %tx = sub i64 1, %lx1
  %ty = sub i64 1, %ly1
  %ex = select i1 %dx, i64 %tx, i64 %ex0
  %ey = select i1 %dy, i64 %ty, i64 %ey0
  %distance = sub i64 %ex, %ey
  br label %head
head: ; the remainder is below twice the divisor here
  %rest = phi i64 [ %mx, %divide ], [ %doubled, %body ]
  %left = phi i64 [ %distance, %divide ], [ %left1, %body ]
  %fits = icmp uge i64 %rest, %my
  %less_one = sub i64 %rest, %my
  %rest1 = select i1 %fits, i64 %less_one, i64 %rest
  %done = icmp eq i64 %left, 0
  br i1 %done, label %exit, label %body
body:
  %doubled = shl i64 %rest1, 1
  %left1 = sub i64 %left, 1
  br label %head
exit:
  %none = icmp eq i64 %rest1, 0
  %lead0 = call i64 @llvm.ctlz.i64(i64 %rest1, i1 false)
  %lead = sub i64 %lead0, 11
  %lead1 = select i1 %none, i64 0, i64 %lead
  %scaled = shl i64 %rest1, %lead1
  %e = sub i64 %ey, %lead1
  %normal = icmp sgt i64 %e, 0
  %frac = and i64 %scaled, 4503599627370495
  %e1 = select i1 %normal, i64 %e, i64 0
  %top = shl i64 %e1, 52
  %big = or i64 %frac, %top
  %down0 = sub i64 1, %e
  %down = select i1 %normal, i64 0, i64 %down0
  %tiny = lshr i64 %scaled, %down
  %magnitude = select i1 %normal, i64 %big, i64 %tiny
  %some = select i1 %none, i64 0, i64 %magnitude
  %signed = or i64 %some, %sign
  %value = bitcast i64 %signed to double
  ret double %value
}
