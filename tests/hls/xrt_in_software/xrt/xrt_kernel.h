// A kernel is the function TOP of the header HEADER.
#pragma once
#include <stdexcept>
#include <string>
#include <type_traits>

#include HEADER
#include "xrt_bo.h"

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

namespace xrt {

struct run {
    void wait() {}
};

class kernel {
  public:
    kernel(const device &, const uuid &, const std::string &name) {
        if (name != NAME_OF(TOP))
            throw std::runtime_error("no kernel " + name);
    }
    /// The bank of an argument: one of its own for each.
    memory_group group_id(int argument) const { return argument; }

    template <typename... Arguments>
    run operator()(const Arguments &...arguments) {
        int number = 0;
        (check(arguments, number++), ...);
        TOP(arguments...);
        return {};
    }

  private:
    /// A buffer lies in the bank of the argument for which it is given, or of an earlier one that it is given for too.
    template <typename T>
    void check(const T &argument, int number) {
        if constexpr (std::is_same_v<T, bo>)
            if (argument.group > number)
                throw std::runtime_error("a buffer lies in the bank of another argument");
    }
};

} // namespace xrt
