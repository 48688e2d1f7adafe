// Disk: records of bytes by key, in a directory that processes and machines share; what lies under the memory tier.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace tpu::cache {

struct DiskStats {
  int64_t hits = 0;
  int64_t misses = 0;   // not there, or not usable
  int64_t removed = 0;  // damaged or foreign files, and files that made room
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
};

/// Whatever a record depends on besides its key: a Disk of another build finds nothing of this one.
struct Build {
  Hash128 core;        // of this code
  Hash128 machine;     // of the plugin and the processor
  std::string plugin;  // its name, for people
};

/// What a file says about its record, for people.
struct About {
  std::string name;
  std::string cause;   // why it was made
  std::string line;    // and where in whose program
  double seconds = 0;  // how long it took
};

/// Thread-safe, and safe beside any number of processes: a file is written under a name of its own and renamed, so that
/// a reader sees all of it or nothing, and a checksum tells what a crash or a bad disk left behind. Nothing throws:
/// trouble with the directory counts as a miss, ends the writing of this process, and is logged once (level 1).
class Disk {
 public:
  /// The directory is made when something is to be written; "" or a capacity of 0 keep nothing. `capacity` bounds the
  /// bytes of all files, approximately: every process looks only now and then, and then lets the least recently used
  /// go.
  Disk(std::string directory, int64_t capacity, Build build);
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  bool is_on() const { return !directory_.empty() && capacity_ > 0; }
  /// The record, whole and as it was written, or nothing.
  std::optional<std::string> read(const Hash128& key);
  void write(const Hash128& key, const About& about, std::string_view record);
  /// The right to make the record of a key, while other processes that want it wait. It ends with the object, or with
  /// the process.
  class Claim {
   public:
    Claim(int file, std::string path, bool is_made) : file_(file), path_(std::move(path)), is_made_(is_made) {}
    Claim(Claim&& other) noexcept
        : file_(std::exchange(other.file_, -1)), path_(std::move(other.path_)), is_made_(other.is_made_) {}
    ~Claim();
    /// Somebody else made the record meanwhile, as far as can be seen from outside.
    bool is_made() const { return is_made_; }

   private:
    int file_;
    std::string path_;
    bool is_made_;
  };
  /// Waits while another process has the claim, for minutes at most; where the directory allows no claims, nobody
  /// waits.
  Claim claim(const Hash128& key);
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
  bool write_file(const std::string& path, std::string_view head, std::string_view record);
  void remove(const std::string& path);
  void make_room(int64_t written);
  void report(const char* doing, const std::string& path, int error);

  const std::string directory_;
  const int64_t capacity_;
  const Build build_;
  std::atomic<bool> writes_{true};
  std::atomic<bool> reported_{false};
  std::atomic<uint64_t> temporary_names_{0};
  std::mutex room_mutex_;
  int64_t unseen_bytes_ = -1;  // written since the last look at the directory; -1: it was never looked at
  Counts counts_;
};

/// A file of a directory, as it describes itself.
struct DiskFile {
  std::string path;
  int64_t bytes = 0;
  double used = 0;     // last, in seconds since the epoch
  std::string fault;   // "temporary", "foreign", "cut short", "damaged", "misnamed"; empty: none was found
  double written = 0;  // this and what follows only where there is no fault
  About about;
  Build build;
};

/// The files of a cache directory, last used first. `whole`: reads all of each and compares its checksum, otherwise
/// only its beginning. Uses and changes nothing.
std::vector<DiskFile> list_files(const std::string& directory, bool whole);

}  // namespace tpu::cache
