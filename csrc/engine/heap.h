// The heap of the process, where a CPU plugin's memory comes from.
//
// Note [Heap]. A CPU plugin takes the memory of every result and of every program's temporaries from malloc, on threads
// of its own. As glibc has it, pieces of more than 128 KiB (more, once such ones were freed) and heaps of threads that
// became empty go back to the system at once, and the next step pays for each page again: with the pages of a result of
// 16 MB about as much time as computing it. Devices keep their memory, and so do we: up to kLargestKept a piece.
// Whoever tells glibc's malloc something by a MALLOC_ variable has decided that alone, and another malloc does as it
// likes.
#pragma once

namespace tpu::engine {

/// From now on freed memory stays with the process.
void keep_freed_memory();
/// What is free in the heap goes back to the system.
void return_freed_memory();

}  // namespace tpu::engine
