#include "base/build_id.h"

#include <elf.h>
#include <link.h>

#include "base/error.h"

namespace tpu {

namespace {

struct Search {
  uintptr_t address;  // of something in the wanted object
  std::string_view id;
};

bool contains(const dl_phdr_info& object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = object.dlpi_phdr[i];
    uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) return true;
  }
  return false;
}

/// Notes follow one another: sizes of name and description, type, then both, each padded to four bytes.
std::string_view find_note(const char* next, const char* end) {
  auto padded = [](size_t size) { return (size + 3) & ~size_t{3}; };
  while (next + sizeof(ElfW(Nhdr)) <= end) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(next);
    const char* name = next + sizeof *note;
    const char* description = name + padded(note->n_namesz);
    if (note->n_type == NT_GNU_BUILD_ID && std::string_view(name, note->n_namesz) == std::string_view("GNU\0", 4))
      return {description, note->n_descsz};
    next = description + padded(note->n_descsz);
  }
  return {};
}

int visit(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!contains(*object, search.address)) return 0;
  for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i) {
    const ElfW(Phdr) & part = object->dlpi_phdr[i];
    const char* begin = reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr);
    if (part.p_type == PT_NOTE) search.id = find_note(begin, begin + part.p_memsz);
  }
  return 1;
}

}  // namespace

Hash128 build_id() {
  Search search{reinterpret_cast<uintptr_t>(&build_id), {}};
  dl_iterate_phdr(&visit, &search);
  check(!search.id.empty(), ErrorCode::Internal, "this build has no build id: link it with -Wl,--build-id=sha1");
  Hasher hasher;
  hasher.add(search.id);
  return hasher.finish();
}

}  // namespace tpu
