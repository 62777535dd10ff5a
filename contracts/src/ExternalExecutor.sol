// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISwapExecutor} from "./ISwapExecutor.sol";
import {IERC20, NATIVE, Transfers} from "./Transfers.sol";

/// @title ExternalExecutor
/// @notice Trades by one call to a third-party router, such as an aggregator's. Do not approve this contract and do not send it
///   tokens: anyone may call it and take its balance.
/// @dev Elements of `route`:
///   [0]   source token
///   [1]   target token; NATIVE stands for the native coin in both
///   [2]   callee: the contract to call
///   [3]   spender: receives an allowance for the source token, equal to this contract's balance, until the call returns; unused
///         if the source is native
///   [4]   length of the call data in bytes
///   [5…]  the call data, padded with zeroes to whole elements
/// The caller chooses callee and call data freely. SwapRouter's minimum protects the signer of a swap. Everybody else is protected
/// by this invariant: between calls the contract holds no tokens and has granted no rights. A call that could grant a right which
/// outlives it is refused: the callee must not be a token, nor a registry of rights over tokens.
contract ExternalExecutor is ISwapExecutor {
    uint256 private constant HEADER_LENGTH = 5;
    /// @dev Addresses below are precompiles and system contracts.
    uint160 private constant LOWEST_CALLEE = 0x10000;
    /// @dev Uniswap's Permit2 holds allowances; ERC-777 finds transfer hooks in the ERC-1820 registry. Both have the same address
    ///   on every network.
    address private constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    address private constant ERC1820 = 0x1820a4B7618BdE71Dce8cdc73aAB6C95905faD24;

    error Reentered();
    error BadRoute();
    /// @dev The callee or the spender is not allowed.
    error BadTarget(address target);
    error UnexpectedCall(address sender);

    /// @dev Reentrancy lock.
    bool private transient locked;

    /// @inheritdoc ISwapExecutor
    function executeSwapRoute(uint256[] calldata route, address to, address refund) external payable {
        if (locked) revert Reentered();
        locked = true;
        // Anyone can force native coin into a contract. It is not part of the trade.
        uint256 forced = address(this).balance - msg.value;
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
        if (source != NATIVE) _payBalance(source, refund);
        else if (address(this).balance > forced) Transfers.pay(NATIVE, refund, address(this).balance - forced);
        // A native coin that is not part of the trade must not block callers that refuse it.
        if (address(this).balance > 0) Transfers.tryPayNative(refund, address(this).balance);
        locked = false;
    }

    /// @dev Accepts the native coin only while a route runs, when the callee pays it.
    receive() external payable {
        if (!locked) revert UnexpectedCall(msg.sender);
    }

    /// @dev Refuses tokens, allowance registries, this contract and msg.sender (SwapRouter). A contract that answers `balanceOf`
    ///   counts as a token, as in 0x's AllowanceHolder: routers have no such function.
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
        // Pass on the callee's revert reason, so that a simulation shows it.
        assembly ("memory-safe") {
            revert(add(result, 32), mload(result))
        }
    }

    function _payBalance(address token, address to) private {
        uint256 balance = Transfers.balanceOf(token, address(this));
        if (balance > 0) Transfers.pay(token, to, balance);
    }
}
