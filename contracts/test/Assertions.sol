// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "./Vm.sol";

abstract contract Check {
    Vm internal constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);

    error Unequal(string what, uint256 left, uint256 right);
    error Untrue(string what);

    function same(string memory what, uint256 left, uint256 right) internal pure {
        if (left != right) revert Unequal(what, left, right);
    }

    function yes(string memory what, bool condition) internal pure {
        if (!condition) revert Untrue(what);
    }

    /// @dev `value` brought into [low, high].
    function within(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + value % (high - low + 1);
    }
}
