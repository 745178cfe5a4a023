// What every kernel shares: views of coded columns, run-time dispatch of code widths, threads, bit tricks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

// Hot functions are compiled twice, for any x86-64 and for machines with AVX2 and POPCNT; the loader picks one.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define CW_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CW_CLONES
#endif

#if defined(_MSC_VER)
#define CW_INLINE __forceinline
#else
#define CW_INLINE inline __attribute__((always_inline))
#endif

namespace countwise {

// One column of codes 0 .. arity-1, each of `width` bytes (1, 2 or 4). Codes are trusted.
struct Column {
  const void* data;
  int width;
  uint32_t arity;
};

template <class Code>
CW_INLINE const Code* codes_of(const Column& column) {
  return static_cast<const Code*>(column.data);
}

// Calls f with a typed null pointer of the column's code type: with_width(c, [&](auto* tag) { ... });
template <class F>
CW_INLINE void with_width(const Column& column, F&& f) {
  switch (column.width) {
    case 1:
      f(static_cast<const uint8_t*>(nullptr));
      break;
    case 2:
      f(static_cast<const uint16_t*>(nullptr));
      break;
    default:
      f(static_cast<const uint32_t*>(nullptr));
  }
}

CW_INLINE uint32_t code_at(const Column& column, size_t row) {
  switch (column.width) {
    case 1:
      return codes_of<uint8_t>(column)[row];
    case 2:
      return codes_of<uint16_t>(column)[row];
    default:
      return codes_of<uint32_t>(column)[row];
  }
}

CW_INLINE void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

CW_INLINE int popcount(uint64_t word) {
#if defined(__GNUC__)
  return __builtin_popcountll(word);
#else
  word -= (word >> 1) & 0x5555555555555555ull;
  word = (word & 0x3333333333333333ull) + ((word >> 2) & 0x3333333333333333ull);
  return static_cast<int>((((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull) >> 56);
#endif
}

CW_INLINE int lowest_bit(uint64_t word) {
#if defined(__GNUC__)
  return __builtin_ctzll(word);
#else
  return popcount((word & (~word + 1)) - 1);
#endif
}

// Runs f(task) for task = 0 .. n_tasks-1 on at most n_threads threads; tasks are taken in order. The first
// exception stops the rest and is thrown again here. Tasks must write to places of their own.
template <class F>
void parallel_for(size_t n_tasks, int n_threads, F&& f) {
  const size_t workers = n_threads < 1 ? 1 : (static_cast<size_t>(n_threads) < n_tasks ? n_threads : n_tasks);
  if (workers <= 1) {
    for (size_t task = 0; task < n_tasks; ++task) f(task);
    return;
  }
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto work = [&] {
    for (size_t task = next++; task < n_tasks; task = next++) {
      try {
        f(task);
      } catch (...) {
        std::lock_guard<std::mutex> lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = n_tasks;
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers; ++i) threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace countwise
