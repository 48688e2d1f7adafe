// Disk: records of bytes by key, in a directory that processes and machines share; what lies under the memory tier.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace tpu::cache {

struct DiskStats {
  int64_t hits = 0;
  int64_t misses = 0;   // not there, or not usable
  int64_t removed = 0;  // damaged or foreign files, and files that made room
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
};

/// Thread-safe, and safe beside any number of processes: a file is written under a name of its own and renamed, so that
/// a reader sees all of it or nothing, and a checksum tells what a crash or a bad disk left behind. Nothing throws:
/// trouble with the directory counts as a miss, ends the writing of this process, and is logged once (level 1).
class Disk {
 public:
  /// `build` is whatever a record depends on besides its key: a Disk of another build finds nothing of this one. The
  /// directory is made when it is first written to; "" or a capacity of 0 keep nothing. `capacity` bounds the bytes of
  /// all files, approximately: every process looks only now and then, and then lets the least recently used go.
  Disk(std::string directory, int64_t capacity, const Hash128& build);
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  bool is_on() const { return !directory_.empty() && capacity_ > 0; }
  /// The record, whole and as it was written, or nothing.
  std::optional<std::string> read(const Hash128& key);
  void write(const Hash128& key, std::string_view record);
  /// The record that was read is of no use: it counts as missed and is not found again.
  void discard(const Hash128& key);
  DiskStats stats() const;

 private:
  struct Counts {
    std::atomic<int64_t> hits{0}, misses{0}, removed{0}, bytes_read{0}, bytes_written{0};
  };

  Hash128 file_key(const Hash128& key) const;
  std::string path(const Hash128& file_key) const;
  std::optional<std::string> read_file(const Hash128& file_key);
  bool write_file(const std::string& path, std::string_view header, std::string_view record);
  void remove(const std::string& path);
  void make_room(int64_t written);
  void report(const char* doing, const std::string& path, int error);

  const std::string directory_;
  const int64_t capacity_;
  const Hash128 build_;
  std::atomic<bool> writes_{true};
  std::atomic<bool> reported_{false};
  std::atomic<uint64_t> temporary_names_{0};
  std::mutex room_mutex_;
  int64_t unseen_bytes_ = -1;  // written since the last look at the directory; -1: it was never looked at
  Counts counts_;
};

}  // namespace tpu::cache
