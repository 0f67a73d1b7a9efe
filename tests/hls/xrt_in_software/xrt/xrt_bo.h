// Buffers with a side of the host and one of the card: what is not synchronised does not get across.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hls_burst_maxi.h"
#include "xrt_device.h"

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

namespace xrt {

/// The bank of an argument of a kernel: one of its own for each.
using memory_group = std::pair<std::string, int>;

class bo {
  public:
    bo(const device &, std::size_t bytes, memory_group group) : group(group), sides(new sides_of{std::vector<char>(bytes), std::vector<char>(bytes)}) {}
    std::size_t size() const { return sides->host.size(); }
    void write(const void *source) { std::memcpy(sides->host.data(), source, size()); }
    void read(void *target) { std::memcpy(target, sides->host.data(), size()); }
    void sync(xclBOSyncDirection direction) {
        if (direction == XCL_BO_SYNC_BO_TO_DEVICE)
            sides->card = sides->host;
        else
            sides->host = sides->card;
    }
    /// A pointer argument of the kernel.
    template <typename T>
    operator T *() const {
        return reinterpret_cast<T *>(sides->card.data());
    }
    template <typename T>
    operator hls::burst_maxi<T>() const {
        return reinterpret_cast<T *>(sides->card.data());
    }
    const memory_group group;

  private:
    struct sides_of {
        std::vector<char> host, card;
    };
    std::shared_ptr<sides_of> sides;
};

} // namespace xrt
