// Kernels are the functions that KERNELS, in the header kernels.h, lists with their namespaces.
#pragma once
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels.h"
#include "xrt_bo.h"

enum ert_cmd_state { ERT_CMD_STATE_COMPLETED = 4, ERT_CMD_STATE_TIMEOUT = 9 };

namespace xrt {

/// A run is over when its kernel has returned, unless LATE is set.
struct run {
    ert_cmd_state state;
    ert_cmd_state wait(const std::chrono::milliseconds &) { return state; }
};

class kernel {
  public:
    kernel(const device &, const uuid &, const std::string &name) : name(name) {}
    memory_group group_id(int argument) const { return {name, argument}; }

    template <typename... Arguments>
    run operator()(const Arguments &...arguments) {
        int number = 0;
        (check(arguments, number++), ...);
#define RUN(space, function)                                                                 \
    if constexpr (std::is_invocable_v<decltype(space::function) &, const Arguments &...>) {  \
        if (name == #function) {                                                             \
            space::function(arguments...);                                                   \
            known = true;                                                                    \
        }                                                                                    \
    }
        bool known = false;
        KERNELS(RUN)
        if (!known)
            throw std::runtime_error("no kernel " + name + " with these arguments");
        return {std::getenv("LATE") ? ERT_CMD_STATE_TIMEOUT : ERT_CMD_STATE_COMPLETED};
    }

  private:
    const std::string name;

    /// A buffer lies in the bank of the argument for which it is given, or of an earlier one that it is given for too. Which
    /// banks those of several kernels share, the link says.
    template <typename T>
    void check(const T &argument, int number) {
        if constexpr (std::is_same_v<T, bo>)
            if (argument.group.first == name && argument.group.second > number)
                throw std::runtime_error("a buffer lies in the bank of another argument");
    }
};

} // namespace xrt
