#include "cache/disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/error.h"
#include "base/log.h"

namespace tpu {

void describe(auto& archive, Like<Hash128> auto& hash) {
  auto& [low, high] = hash;
  archive(low, high);
}

namespace cache {

void describe(auto& archive, Like<Build> auto& build) {
  auto& [core, machine, plugin] = build;
  archive(core, machine, plugin);
}

void describe(auto& archive, Like<About> auto& about) {
  auto& [name, cause, line, seconds] = about;
  archive(name, cause, line, seconds);
}

}  // namespace cache

}  // namespace tpu

namespace tpu::cache {

namespace {

namespace fs = std::filesystem;

constexpr uint32_t kVersion = 2;  // of the file; raise it when the file changes
constexpr const char* kSuffix = ".program";
constexpr const char* kTemporary = ".new";
constexpr const char* kClaim = ".claim";
constexpr auto kPatience = std::chrono::minutes(5);  // with the claim of a process that may stand still

/// Begins every file. Then comes the preface, an archive of Build and About, then the record.
struct Header {
  char magic[8] = {'t', 'o', 'r', 'c', 'h', 't', 'p', 'u'};
  uint32_t version = kVersion;
  uint32_t header_bytes = sizeof(Header);
  Hash128 key;
  uint64_t preface_bytes = 0;
  uint64_t record_bytes = 0;
  int64_t written = 0;  // microseconds since the epoch
  Hash128 checksum;     // of all before and behind it
};
static_assert(sizeof(Header) == 72 && std::is_trivially_copyable_v<Header>, "no padding: it is hashed as bytes");

Hash128 checksum_of(Header header, std::string_view preface, std::string_view record) {
  header.checksum = {};
  Hasher hasher;
  hasher.add(std::string_view(reinterpret_cast<const char*>(&header), sizeof header));
  hasher.add(preface);
  hasher.add(record);
  return hasher.finish();
}

/// A file in memory. `fault`: why it is of no use, or null.
struct Contents {
  Header header;
  std::string_view preface, record;
  const char* fault = nullptr;
};

/// Takes the beginning of a file of `size` bytes apart, up to the record, or all of it when all of it is there.
Contents take_apart(std::string_view bytes, uint64_t size) {
  Contents file;
  if (bytes.size() < sizeof file.header) return file.fault = "cut short", file;
  std::memcpy(&file.header, bytes.data(), sizeof file.header);
  const Header ours;
  bool is_ours = std::memcmp(file.header.magic, ours.magic, sizeof ours.magic) == 0 &&
                 file.header.version == ours.version && file.header.header_bytes == ours.header_bytes;
  if (!is_ours) return file.fault = "foreign", file;
  bytes.remove_prefix(sizeof file.header);
  uint64_t rest = size - sizeof file.header;
  uint64_t preface = file.header.preface_bytes, record = file.header.record_bytes;
  if (preface > rest || record > rest - preface || preface > bytes.size()) return file.fault = "cut short", file;
  if (record < rest - preface) return file.fault = "damaged", file;
  file.preface = bytes.substr(0, preface);
  file.record = bytes.substr(preface);
  bool is_whole = bytes.size() == rest;
  if (is_whole && file.header.checksum != checksum_of(file.header, file.preface, file.record)) file.fault = "damaged";
  return file;
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
  /// All of it, or the first `most` bytes; shorter when somebody cuts it meanwhile, which the checksum finds.
  std::optional<std::string> read(size_t most = SIZE_MAX) {
    struct stat facts = {};
    if (fstat(number_, &facts) != 0) return std::nullopt;
    std::string bytes(std::min(static_cast<size_t>(facts.st_size), most), '\0');
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
    if (extension != kSuffix && extension != kTemporary && extension != kClaim) continue;
    std::error_code gone;
    fs::file_time_type used = entry->last_write_time(gone);
    auto bytes = static_cast<int64_t>(entry->file_size(gone));
    if (!gone) found.push_back({entry->path(), used, bytes});
  }
  return found;
}

}  // namespace

Disk::Disk(std::string directory, int64_t capacity, Build build)
    : directory_(std::move(directory)), capacity_(capacity), build_(std::move(build)) {}

Hash128 Disk::file_key(const Hash128& key) const {
  Hasher hasher;
  hasher.add(uint64_t{kVersion});
  hasher.add(build_.core);
  hasher.add(build_.machine);
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
  Contents contents = take_apart(*bytes, bytes->size());
  if (contents.fault == nullptr && contents.header.key != file_key) contents.fault = "misnamed";
  if (contents.fault != nullptr) {
    log::at(1, name, " is ", contents.fault, " and is removed");
    remove(name);
    return std::nullopt;
  }
  futimens(file.number(), nullptr);  // used now; where that is not allowed, it ages
  bytes->erase(0, bytes->size() - contents.record.size());
  return bytes;
}

void Disk::write(const Hash128& key, const About& about, std::string_view record) {
  if (!is_on() || !writes_.load(std::memory_order_relaxed)) return;
  ByteWriter preface;
  preface(build_, about);
  Header header;
  header.key = file_key(key);
  header.preface_bytes = preface.bytes().size();
  header.record_bytes = record.size();
  header.written =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  header.checksum = checksum_of(header, preface.bytes(), record);
  const std::string head = std::string(reinterpret_cast<const char*>(&header), sizeof header) + preface.bytes();
  const auto size = static_cast<int64_t>(head.size() + record.size());
  if (size > capacity_) return;
  if (!write_file(path(header.key), head, record)) {
    writes_.store(false, std::memory_order_relaxed);
    report("write", path(header.key), errno);
    return;
  }
  counts_.bytes_written += static_cast<int64_t>(record.size());
  make_room(size);
}

bool Disk::write_file(const std::string& path, std::string_view head, std::string_view record) {
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
  if (file.write(head) && file.write(record) && file.close() && rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  int reason = errno;
  unlink(temporary.c_str());
  errno = reason;
  return false;
}

// A lock on a file of its own, which the system releases when the process ends, however it ends.
Disk::Claim Disk::claim(const Hash128& key) {
  if (!is_on() || !writes_.load(std::memory_order_relaxed)) return {-1, "", false};
  std::error_code error;
  fs::create_directories(directory_, error);
  const std::string name = directory_ + "/" + to_string(file_key(key)) + kClaim;
  int file = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return {-1, "", false};
  auto end = std::chrono::steady_clock::now() + kPatience;
  for (auto pause = std::chrono::milliseconds(1); flock(file, LOCK_EX | LOCK_NB) != 0;) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(50));
  }
  return {file, name, access(path(file_key(key)).c_str(), F_OK) == 0};
}

Disk::Claim::~Claim() {
  if (file_ < 0) return;
  unlink(path_.c_str());  // who waits for it holds the file still, and finds the record
  flock(file_, LOCK_UN);  // a forked child may hold it, too
  ::close(file_);
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
    bool is_left_over = file.path.extension() != kSuffix && file.used < old;
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

namespace {

constexpr size_t kBeginning = 8192;  // of a file, in which the preface ends as a rule

DiskFile describe_file(const Found& found, bool whole) {
  DiskFile result;
  result.path = found.path.string();
  result.bytes = found.bytes;
  auto age = fs::file_time_type::clock::now() - found.used;
  result.used = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch() - age).count();
  if (found.path.extension() != kSuffix) return result.fault = "temporary", result;
  File file(result.path, O_RDONLY);
  std::optional<std::string> bytes;
  if (file) bytes = file.read(whole ? SIZE_MAX : kBeginning);
  if (!bytes) return result.fault = concat("unreadable (", std::strerror(errno), ")"), result;
  uint64_t size = whole ? bytes->size() : static_cast<uint64_t>(found.bytes);
  Contents contents = take_apart(*bytes, size);
  if (contents.fault == nullptr && to_string(contents.header.key) + kSuffix != found.path.filename())
    contents.fault = "misnamed";
  if (contents.fault != nullptr && bytes->size() < size) return describe_file(found, /*whole=*/true);  // a long preface
  if (contents.fault != nullptr) return result.fault = contents.fault, result;
  try {
    ByteReader(contents.preface)(result.build, result.about);
  } catch (const Error&) { return result.fault = "damaged", result; }
  result.written = static_cast<double>(contents.header.written) * 1e-6;
  return result;
}

}  // namespace

std::vector<DiskFile> list_files(const std::string& directory, bool whole) {
  std::vector<Found> found = list(directory);
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.used > b.used; });
  std::vector<DiskFile> files;
  for (const Found& each : found) files.push_back(describe_file(each, whole));
  return files;
}

}  // namespace tpu::cache
