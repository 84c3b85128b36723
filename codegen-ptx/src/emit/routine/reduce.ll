; A reduction over the lanes of the mask that live: each lane reads all of them in turn.
define internal i32 @KEY(i32 %value, i32 %mask) convergent noinline nounwind {
entry:
  %living = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 true)
  %group = and i32 %living, %mask
  br label %head
head:
  %rest = phi i32 [ %group, %entry ], [ %rest1, %body ]
  %sum = phi i32 [ NEUTRAL, %entry ], [ %sum1, %body ]
  %done = icmp eq i32 %rest, 0
  br i1 %done, label %exit, label %body
body:
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %part = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %mask, i32 %value, i32 %lane, i32 31)
  %sum1 = JOIN
  %less = sub i32 %rest, 1
  %rest1 = and i32 %rest, %less
  br label %head
exit:
  ret i32 %sum
}
