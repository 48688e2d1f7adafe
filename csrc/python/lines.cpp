#include "python/lines.h"

#include <Python.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/utils/pybind.h>

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tpu::python {

namespace py = pybind11;

namespace {

thread_local std::string given_place;  // see set_place

// Lines and autograd nodes that recorded an op, by number; bounded by the lines of the program.
class Lines {
 public:
  static Lines& all() {
    static auto* lines = new Lines;  // used until the process ends
    return *lines;
  }

  // The innermost line outside of torch and this package; backward runs without Python: the node's name.
  uint64_t capture() {
    if (!given_place.empty()) return of_text(given_place);
    // torch has let go of the GIL on the way to a kernel. A thread without Python has no line.
    if (!Py_IsInitialized() || PyGILState_GetThisThreadState() == nullptr) return of_node();
    py::gil_scoped_acquire gil;
    PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
    bool is_in_node = torch::autograd::get_current_node() != nullptr;
    for (Kind kind; frame != nullptr && (kind = kind_of(frame)) != Kind::User;) {
      if (kind == Kind::Backward && is_in_node) {  // no line of Python called this, but the node
        Py_DECREF(frame);
        return of_node();
      }
      PyFrameObject* outer = PyFrame_GetBack(frame);
      Py_DECREF(frame);
      frame = outer;
    }
    if (frame == nullptr) return of_node();
    PyCodeObject* code = PyFrame_GetCode(frame);
    auto place = std::make_pair(static_cast<const void*>(code), PyFrame_GetLasti(frame));
    std::lock_guard<std::mutex> lock(mutex_);
    auto [known, is_new] = numbers_.emplace(place, texts_.size() + 1);
    if (is_new) {
      auto file = py::handle(code->co_filename).cast<std::string>();
      texts_.push_back(concat(file, ":", PyFrame_GetLineNumber(frame)));
    } else {
      Py_DECREF(code);  // a code object whose address is a key lives on
    }
    Py_DECREF(frame);
    return known->second;
  }

  std::string describe(uint64_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    return texts_[number - 1];
  }

 private:
  uint64_t of_node() {
    auto node = torch::autograd::get_current_node();
    if (!node) return 0;
    return of_text(concat("the backward pass, ", node->name()));
  }

  uint64_t of_text(const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto [known, is_new] = others_.emplace(text, texts_.size() + 1);
    if (is_new) texts_.push_back(text);
    return known->second;
  }

  enum class Kind : uint8_t { User, Library, Backward };  // the last: what calls autograd's engine

  Kind kind_of(PyFrameObject* frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    auto [known, is_new] = kinds_.emplace(code, Kind::User);
    if (is_new) {
      auto file = py::handle(code->co_filename).cast<std::string>();
      bool is_library = file.find("/torch/") != std::string::npos || file.find("/torch_tpu/") != std::string::npos ||
                        file.rfind("<eval_with_key>", 0) == 0;  // torch.fx wrote it
      if (is_library) known->second = Kind::Library;
      if (is_library && py::handle(code->co_name).cast<std::string>() == "_engine_run_backward")
        known->second = Kind::Backward;
    } else {
      Py_DECREF(code);
    }
    return known->second;
  }

  std::mutex mutex_;
  std::map<std::pair<const void*, int>, uint64_t> numbers_;
  std::map<std::string, uint64_t> others_;       // nodes and places of graphs
  std::unordered_map<const void*, Kind> kinds_;  // of code; with the GIL
  std::vector<std::string> texts_;
};

}  // namespace

uint64_t capture_line() { return Lines::all().capture(); }
std::string describe_line(uint64_t line) { return Lines::all().describe(line); }
void set_place(std::string place) { given_place = std::move(place); }

}  // namespace tpu::python
