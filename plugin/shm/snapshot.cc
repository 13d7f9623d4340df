#include "plugin/shm/snapshot.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include "plugin/shm/sequence_lock.h"

namespace kvbudget::shm {
namespace {

constexpr size_t kWords = sizeof(Figures) / sizeof(uint64_t);
constexpr uint64_t kMagic = 0x4B56424C45444732;  // "KVBLEDG2", the layout's version last

using Words = std::array<uint64_t, kWords>;

bool is_alive(uint64_t pid) { return kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; }

}  // namespace

struct Segment {
  std::atomic<uint64_t> magic{0};
  std::atomic<uint64_t> pid{0};
  SequenceLock<kWords> figures;
};

namespace {

Segment* map(int file, int protection) {
  void* memory = mmap(nullptr, sizeof(Segment), protection, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Segment*>(memory);
}

/// A mapped segment to read, or null with `status` filled.
const Segment* open_segment(const std::string& name, ReadStatus& status) {
  const int file = shm_open(name.c_str(), O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    status = errno == ENOENT ? ReadStatus::kNotFound : ReadStatus::kFailed;
    return nullptr;
  }
  struct stat about = {};
  const bool whole =
      fstat(file, &about) == 0 && static_cast<size_t>(about.st_size) >= sizeof(Segment);
  const Segment* segment = whole ? map(file, PROT_READ) : nullptr;
  close(file);
  status = !whole ? ReadStatus::kNotOurs : segment == nullptr ? ReadStatus::kFailed : status;
  if (segment != nullptr && segment->magic.load(std::memory_order_acquire) != kMagic) {
    munmap(const_cast<Segment*>(segment), sizeof(Segment));
    status = ReadStatus::kNotOurs;
    return nullptr;
  }
  return segment;
}

/// The process that writes the segment `name`, 0 where none lives.
uint64_t living_writer(const std::string& name) {
  ReadStatus status = ReadStatus::kOk;
  const Segment* segment = open_segment(name, status);
  if (segment == nullptr) return 0;
  const uint64_t pid = segment->pid.load(std::memory_order_relaxed);
  munmap(const_cast<Segment*>(segment), sizeof(Segment));
  return is_alive(pid) ? pid : 0;
}

}  // namespace

std::unique_ptr<Publisher> Publisher::create(const std::string& name) {
  if (living_writer(name) != 0) {
    errno = EEXIST;
    return nullptr;
  }
  shm_unlink(name.c_str());
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return nullptr;
  Segment* segment = nullptr;
  if (ftruncate(file, sizeof(Segment)) == 0) segment = map(file, PROT_READ | PROT_WRITE);
  const int reason = errno;
  close(file);
  if (segment == nullptr) {
    shm_unlink(name.c_str());
    errno = reason;
    return nullptr;
  }
  new (segment) Segment;
  segment->pid.store(static_cast<uint64_t>(getpid()), std::memory_order_relaxed);
  segment->magic.store(kMagic, std::memory_order_release);
  return std::unique_ptr<Publisher>(new Publisher(name, segment));
}

// A forked child that exits must not take its parent's segment away.
Publisher::~Publisher() {
  const bool own = segment_->pid.load(std::memory_order_relaxed) == static_cast<uint64_t>(getpid());
  if (own) shm_unlink(name_.c_str());
  munmap(segment_, sizeof(Segment));
}

void Publisher::publish(const Figures& figures) {
  segment_->figures.write(std::bit_cast<Words>(figures));
}

ReadStatus read_snapshot(const std::string& name, Figures& figures, uint64_t& pid) {
  constexpr int kAttempts = 10'000;
  ReadStatus status = ReadStatus::kOk;
  const Segment* segment = open_segment(name, status);
  if (segment == nullptr) return status;
  Words words;
  pid = segment->pid.load(std::memory_order_relaxed);
  if (!segment->figures.read(words, kAttempts)) status = ReadStatus::kBusy;
  munmap(const_cast<Segment*>(segment), sizeof(Segment));
  if (status == ReadStatus::kOk) figures = std::bit_cast<Figures>(words);
  return status;
}

bool unlink_snapshot(const std::string& name) { return shm_unlink(name.c_str()) == 0; }

}  // namespace kvbudget::shm
