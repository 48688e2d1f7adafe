#include "engine/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/env.h"
#include "base/error.h"
#include "engine/background.h"

namespace tpu::engine {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kPatience = 1s;    // of compiling before anything is shown
constexpr auto kPause = 1s;       // without a compile: the next one begins a new burst
constexpr auto kRefresh = 100ms;  // of the seconds
constexpr size_t kWidth = 80;     // of a terminal that does not say

// To a terminal. `kDown` makes a line where there is none, and keeps the column.
constexpr const char* kEraseBelow = "\033[J";
constexpr const char* kDown = "\033D";
constexpr const char* kUp = "\033[A";
constexpr const char* kKeepPlace = "\0337";
constexpr const char* kBack = "\0338";

bool is_wanted() {
  if (is_background() || isatty(STDERR_FILENO) == 0 || env::text("TORCH_TPU_PROGRESS") == "0") return false;
  const char* terminal = std::getenv("TERM");
  const char* rank = std::getenv("LOCAL_RANK");  // of the processes on one terminal only the first shows anything
  return (terminal == nullptr || std::string_view(terminal) != "dumb") &&
         (rank == nullptr || std::string_view(rank) == "0");
}

size_t width() {
  winsize size = {};
  bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kWidth;
}

// `aten::addmm.out(self: ...) and 19 more` -> `addmm.out and 19 more`
std::string without_operands(std::string_view name) {
  if (name.starts_with("aten::")) name.remove_prefix(6);
  size_t open = name.find('('), close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, open)) + std::string(name.substr(close + 1));
}

class Screen {
 public:
  void begin(const std::string& name, const std::string& line) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto now = Clock::now();
    if (compiling_ == 0 && now - end_ > kPause) {
      begin_ = now;
      programs_ = 0;
    }
    ++compiling_;
    ++programs_;
    what_ = without_operands(name) + (line.empty() ? "" : " at " + line);
    if (!is_started_) std::thread([this] { run(); }).detach();  // it ends only with the process
    is_started_ = true;
    if (now - begin_ >= kPatience) draw(now);
    changed_.notify_all();
  }

  void end() {
    std::lock_guard<std::mutex> lock(mutex_);
    end_ = Clock::now();
    if (--compiling_ == 0) erase();
  }

 private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return compiling_ > 0; });
      auto next = std::max(begin_ + kPatience, Clock::now() + kRefresh);
      changed_.wait_until(lock, next, [&] { return compiling_ == 0; });
      if (compiling_ > 0 && Clock::now() >= begin_ + kPatience) draw(Clock::now());
    }
  }

  void draw(Clock::time_point now) {
    char head[96];
    std::snprintf(head, sizeof head, "torch_tpu: compiling (%zu program%s, %.1f s): ", programs_,
                  programs_ == 1 ? "" : "s", std::chrono::duration<double>(now - begin_).count());
    std::string text = head + what_;
    if (size_t most = width() - 1; text.size() > most) {
      while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;  // no half of a character
      text.resize(most);
    }
    write(concat(kEraseBelow, kDown, kUp, kKeepPlace, "\033[B\r", text, kBack));
    is_drawn_ = true;
  }

  void erase() {
    if (is_drawn_) write(kEraseBelow);
    is_drawn_ = false;
  }

  // In one call, so that it is not mixed with what others print. A terminal that is gone shows nothing.
  static void write(const std::string& bytes) {
    [[maybe_unused]] ssize_t done = ::write(STDERR_FILENO, bytes.data(), bytes.size());
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int compiling_ = 0;              // programs under way
  size_t programs_ = 0;            // of this burst, with those
  Clock::time_point begin_, end_;  // of this burst; of the last compile
  std::string what_;
  bool is_started_ = false;
  bool is_drawn_ = false;
};

Screen& screen() {
  static auto* screen = new Screen;
  return *screen;
}

}  // namespace

Progress::Progress(const std::string& name, const std::string& line) : is_shown_(is_wanted()) {
  if (is_shown_) screen().begin(name, line);
}

Progress::~Progress() {
  if (is_shown_) screen().end();
}

}  // namespace tpu::engine
