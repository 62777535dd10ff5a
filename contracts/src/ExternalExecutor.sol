// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISwapExecutor} from "./ISwapExecutor.sol";
import {IERC20, NATIVE, Transfers} from "./Transfers.sol";

/// @title Trades by one call of somebody else's router.
/// @notice Holds nothing and may spend nobody's tokens: do not approve it, and send it nothing. Anyone may call it.
/// @dev The route's words:
///   [0]   the source, [1] the target; NATIVE is the native coin
///   [2]   whom to call
///   [3]   who may then take the source from here: exactly what is here of it, until the call returns; unused for the coin
///   [4]   how many bytes the call has, and from [5] on these, filled up with zeroes to whole words
/// The call is the caller's choice, and so is what it calls: whoever signs a swap is held harmless by SwapRouter's minimum, and
/// everybody else by this, that nothing lies here that was not brought by the same call. What could give somebody a right here
/// that lasts until another's swap is not called: tokens, and the registries where rights over tokens are noted down.
contract ExternalExecutor is ISwapExecutor {
    uint256 private constant HEADER_LENGTH = 5;
    /// @dev Below are precompiles and what else belongs to a chain itself.
    uint160 private constant LOWEST_CALLEE = 0x10000;
    /// @dev Uniswap's holder of allowances, and the registry of ERC-1820, by which ERC-777 finds whom to call: at these addresses
    ///   on every network.
    address private constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    address private constant ERC1820 = 0x1820a4B7618BdE71Dce8cdc73aAB6C95905faD24;

    error Reentered();
    error BadRoute();
    error BadTarget(address target);
    error UnexpectedCall(address sender);

    /// @dev Reentrancy lock.
    bool private transient locked;

    /// @inheritdoc ISwapExecutor
    function executeSwapRoute(uint256[] calldata route, address to, address refund) external payable {
        if (locked) revert Reentered();
        locked = true;
        bytes memory data = _decodeCallData(route);
        (address source, address target) = (address(uint160(route[0])), address(uint160(route[1])));
        (address callee, address spender) = (address(uint160(route[2])), address(uint160(route[3])));
        if (source == target) revert BadRoute();
        _requireAllowed(callee);
        if (source == NATIVE) {
            _call(callee, msg.value, data);
        } else {
            _requireAllowed(spender);
            Transfers.approve(source, spender, Transfers.balanceOf(source, address(this)));
            _call(callee, 0, data);
            if (IERC20(source).allowance(address(this), spender) != 0) Transfers.approve(source, spender, 0);
        }
        // No balance stays: the target token goes to its recipient, unspent input and native coin go back.
        _payBalance(target, to);
        _payBalance(source, refund);
        if (target != NATIVE && source != NATIVE) _payBalance(NATIVE, refund);
        locked = false;
    }

    /// @dev The native coin comes from whom was called, while a route runs.
    receive() external payable {
        if (!locked) revert UnexpectedCall(msg.sender);
    }

    /// @dev SwapRouter is msg.sender. A token is known by its answer to `balanceOf`, as 0x's AllowanceHolder does it: a router has
    ///   none.
    function _requireAllowed(address target) private view {
        if (target == msg.sender || target == address(this) || target == PERMIT2 || target == ERC1820) {
            revert BadTarget(target);
        }
        if (uint160(target) < LOWEST_CALLEE || target.code.length == 0) revert BadTarget(target);
        (bool success, bytes memory result) = target.staticcall(abi.encodeCall(IERC20.balanceOf, (address(this))));
        if (success && result.length >= 32) revert BadTarget(target);
    }

    function _decodeCallData(uint256[] calldata route) private pure returns (bytes memory data) {
        if (route.length < HEADER_LENGTH) revert BadRoute();
        for (uint256 i = 0; i < 4; i++) {
            if (route[i] > type(uint160).max) revert BadRoute();
        }
        uint256 length = route[HEADER_LENGTH - 1];
        data = abi.encodePacked(route[HEADER_LENGTH:]);
        // At least a selector, and less than one element of padding.
        if (length < 4 || length > data.length || data.length - length > 31) revert BadRoute();
        assembly ("memory-safe") {
            mstore(data, length)
        }
    }

    function _call(address callee, uint256 value, bytes memory data) private {
        (bool success, bytes memory result) = callee.call{value: value}(data);
        if (success) return;
        // Its own reason, so that who simulates can read it.
        assembly ("memory-safe") {
            revert(add(result, 32), mload(result))
        }
    }

    function _payBalance(address token, address to) private {
        uint256 balance = Transfers.balanceOf(token, address(this));
        if (balance > 0) Transfers.pay(token, to, balance);
    }
}
