#include "cache/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace tpu::cache {

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kVersion = 1;  // of the header; raise it when the header changes
constexpr const char* kSuffix = ".program";
constexpr const char* kTemporary = ".new";

/// Begins every file.
struct Header {
  char magic[8] = {'t', 'o', 'r', 'c', 'h', 't', 'p', 'u'};
  uint32_t version = kVersion;
  uint32_t header_bytes = sizeof(Header);
  Hash128 key;
  uint64_t bytes = 0;  // of the record
  Hash128 checksum;    // of the record
  bool operator==(const Header& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }
};
static_assert(sizeof(Header) == 56 && std::is_trivially_copyable_v<Header>,
              "no padding: headers are compared as bytes");

Header header_of(const Hash128& key, std::string_view record) {
  Header header;
  header.key = key;
  header.bytes = record.size();
  Hasher hasher;
  hasher.add(record);
  header.checksum = hasher.finish();
  return header;
}

class File {
 public:
  File(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t done = ::write(number_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    return true;
  }
  /// All of it; shorter than it says when somebody cuts it meanwhile, which the checksum finds.
  std::optional<std::string> read() {
    struct stat facts = {};
    if (fstat(number_, &facts) != 0) return std::nullopt;
    std::string bytes(static_cast<size_t>(facts.st_size), '\0');
    size_t size = 0;
    while (size < bytes.size()) {
      ssize_t done = ::read(number_, bytes.data() + size, bytes.size() - size);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return std::nullopt;
      if (done == 0) break;
      size += static_cast<size_t>(done);
    }
    bytes.resize(size);
    return bytes;
  }

 private:
  int number_;
};

struct Found {
  fs::path path;
  fs::file_time_type used;
  int64_t bytes;
};

/// The files of a directory that are ours. Files that vanish while we look belong to the past.
std::vector<Found> list(const std::string& directory) {
  std::vector<Found> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    fs::path extension = entry->path().extension();
    if (extension != kSuffix && extension != kTemporary) continue;
    std::error_code gone;
    fs::file_time_type used = entry->last_write_time(gone);
    auto bytes = static_cast<int64_t>(entry->file_size(gone));
    if (!gone) found.push_back({entry->path(), used, bytes});
  }
  return found;
}

}  // namespace

Disk::Disk(std::string directory, int64_t capacity, const Hash128& build)
    : directory_(std::move(directory)), capacity_(capacity), build_(build) {}

Hash128 Disk::file_key(const Hash128& key) const {
  Hasher hasher;
  hasher.add(uint64_t{kVersion});
  hasher.add(build_);
  hasher.add(key);
  return hasher.finish();
}

std::string Disk::path(const Hash128& file_key) const { return directory_ + "/" + to_string(file_key) + kSuffix; }

std::optional<std::string> Disk::read(const Hash128& key) {
  if (!is_on()) return std::nullopt;
  std::optional<std::string> record = read_file(file_key(key));
  ++(record ? counts_.hits : counts_.misses);
  if (record) counts_.bytes_read += static_cast<int64_t>(record->size());
  return record;
}

std::optional<std::string> Disk::read_file(const Hash128& file_key) {
  const std::string name = path(file_key);
  File file(name, O_RDONLY);
  if (!file) {
    if (errno != ENOENT && errno != ENOTDIR) report("read", name, errno);
    return std::nullopt;
  }
  std::optional<std::string> bytes = file.read();
  if (!bytes) {
    report("read", name, errno);
    return std::nullopt;
  }
  Header header;
  bool is_whole = bytes->size() >= sizeof header;
  if (is_whole) {
    std::memcpy(&header, bytes->data(), sizeof header);
    is_whole = header == header_of(file_key, std::string_view(*bytes).substr(sizeof header));
  }
  if (!is_whole) {
    log::at(1, name, " is damaged or not of this version, and is removed");
    remove(name);
    return std::nullopt;
  }
  futimens(file.number(), nullptr);  // used now; where that is not allowed, it ages
  bytes->erase(0, sizeof header);
  return bytes;
}

void Disk::write(const Hash128& key, std::string_view record) {
  if (!is_on() || !writes_.load(std::memory_order_relaxed)) return;
  const Hash128 name = file_key(key);
  const Header header = header_of(name, record);
  const auto size = static_cast<int64_t>(sizeof header + record.size());
  if (size > capacity_) return;
  if (!write_file(path(name), {reinterpret_cast<const char*>(&header), sizeof header}, record)) {
    writes_.store(false, std::memory_order_relaxed);
    report("write", path(name), errno);
    return;
  }
  counts_.bytes_written += static_cast<int64_t>(record.size());
  make_room(size);
}

bool Disk::write_file(const std::string& path, std::string_view header, std::string_view record) {
  std::error_code error;
  fs::create_directories(directory_, error);  // opening the file says what is wrong
  // Unlike those of other threads, processes and machines that write the same key now.
  Hasher unique;
  unique.add(static_cast<int64_t>(getpid()));
  unique.add(temporary_names_.fetch_add(1));
  unique.add(static_cast<int64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
  unique.add(reinterpret_cast<uintptr_t>(this));
  const std::string temporary = concat(path, ".", to_string(unique.finish()), kTemporary);
  File file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return false;
  if (file.write(header) && file.write(record) && file.close() && rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  int reason = errno;
  unlink(temporary.c_str());
  errno = reason;
  return false;
}

void Disk::discard(const Hash128& key) {
  if (!is_on()) return;
  --counts_.hits;
  ++counts_.misses;
  remove(path(file_key(key)));
}

void Disk::remove(const std::string& path) {
  if (unlink(path.c_str()) == 0) ++counts_.removed;
}

void Disk::make_room(int64_t written) {
  std::unique_lock<std::mutex> lock(room_mutex_, std::try_to_lock);
  if (!lock) return;  // another thread is looking
  bool is_first = unseen_bytes_ < 0;
  unseen_bytes_ += written;
  if (!is_first && unseen_bytes_ < capacity_ / 16) return;
  unseen_bytes_ = 0;

  std::vector<Found> files = list(directory_);
  // What a process left when it was killed while writing. No write takes an hour.
  auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::erase_if(files, [&](const Found& file) {
    bool is_left_over = file.path.extension() == kTemporary && file.used < old;
    if (is_left_over) remove(file.path);
    return is_left_over;
  });
  int64_t total = 0;
  for (const Found& file : files) total += file.bytes;
  if (total <= capacity_) return;
  std::sort(files.begin(), files.end(), [](const Found& a, const Found& b) { return a.used < b.used; });
  // A tenth more than needed, so that the next write does not have to look again.
  for (size_t i = 0; i < files.size() && total > capacity_ - capacity_ / 10; ++i) {
    remove(files[i].path);
    total -= files[i].bytes;
  }
}

void Disk::report(const char* doing, const std::string& path, int error) {
  if (reported_.exchange(true)) return;
  log::at(1, "cannot ", doing, " ", path, ": ", std::strerror(error),
          "; programs are compiled instead, and none is written (TORCH_TPU_CACHE_DIR names another place, `off` none)");
}

DiskStats Disk::stats() const {
  return {counts_.hits, counts_.misses, counts_.removed, counts_.bytes_read, counts_.bytes_written};
}

}  // namespace tpu::cache
