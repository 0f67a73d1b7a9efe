"""Initiation intervals of the HLS library, by a dependence analysis of its loops' LLVM IR (docs/hls.md).

How a loop of the library keeps an interval of 1:

* What decides is kept short. Whether a head stays for a further firing follows from a comparison and at
  most two steps of logic, so that it fits into the cycle in which the head has come. A scanner's first
  process sends the number of a fiber's last coordinate instead of its end, and its walk only compares.
* What does not decide comes later. Joins and holds read the stream that the other one leads a cycle later.
  The loop hears of the end, or of heads that the rule does not cover, two iterations late (`ending`, in
  `token.hpp`). These two write nothing and read no stream after its DONE; they may take heads that the node
  would have discarded in any case.
* A rank is read in an iteration of its own, so top_k takes one iteration more for each fiber. So does a
  gather where its list ends in a lane.
* Ends are coordinates. In a union or an intersection the end of a fiber compares like a coordinate after
  all others.
* A value becomes an integer before the loop's recurrence. arg and top_k keep ratings of the best values,
  and compare the next one's with them; NaN has the greatest.
* A vector reducer compares what it reads, not what it holds: the entry of a head as it comes, by a tree.
* What comes late has iterations of its own. A drain takes a word of a bitmap three iterations after it has
  asked for it, and does nothing in between. The entries of a word leave one an iteration.
"""
