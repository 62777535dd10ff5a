// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISwapExecutor} from "./ISwapExecutor.sol";
import {NATIVE, Transfers} from "./Transfers.sol";

/// @title The only contract that users approve.
/// @notice Takes msg.sender's input, lets an executor trade it, pays the fee, and checks what the recipient got.
/// @dev No owner, no storage, no upgrade. What it calls, and there is nothing else:
///   - `transferFrom` of the input token, with msg.sender as `from`;
///   - `executeSwapRoute`, a selector that no token has, of the executor that the caller names;
///   - `transfer` and `balanceOf` of the output token, and plain payments of the native coin.
/// So whoever calls it, and with whatever arguments, moves nobody's tokens but his own.
contract SwapRouter {
    struct Swap {
        /// @dev NATIVE for the native coin, which comes as msg.value.
        address tokenIn;
        uint256 amountIn;
        /// @dev NATIVE to be paid in the native coin.
        address tokenOut;
        /// @dev What the recipient must get at least, after the fee.
        uint256 minOut;
        address recipient;
        address feeTo;
        /// @dev Millionths of the output, rounded down.
        uint256 feePpm;
        /// @dev The caller's reference, for the log alone.
        bytes32 ref;
        uint256 deadline;
        address executor;
    }

    event Swapped(
        bytes32 indexed ref,
        address indexed sender,
        address recipient,
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        uint256 amountOut,
        uint256 fee
    );

    error Reentered();
    error Expired(uint256 deadline);
    error BadSwap();
    error BadValue();
    error FeeTooHigh(uint256 feePpm);
    error TooLittle(uint256 amountOut, uint256 minOut);

    uint256 public constant MAX_FEE_PPM = 50_000;

    /// @dev Reentrancy lock.
    bool private transient locked;

    /// @notice Swaps msg.sender's tokens.
    /// @return amountOut what the recipient got
    function swap(Swap calldata s, uint256[] calldata route) external payable returns (uint256 amountOut) {
        if (locked) revert Reentered();
        locked = true;
        _check(s);

        uint256 fee;
        if (s.feePpm == 0 && (s.tokenOut != NATIVE || s.recipient.code.length == 0)) {
            amountOut = _swapToRecipient(s, route);
        } else {
            (amountOut, fee) = _swapThroughRouter(s, route);
        }
        if (amountOut < s.minOut) revert TooLittle(amountOut, s.minOut);

        emit Swapped(s.ref, msg.sender, s.recipient, s.tokenIn, s.tokenOut, s.amountIn, amountOut, fee);
        locked = false;
    }

    /// @dev The native coin comes from an executor only, while it runs.
    receive() external payable {
        if (!locked) revert BadValue();
    }

    function _check(Swap calldata s) private view {
        if (block.timestamp > s.deadline) revert Expired(s.deadline);
        if (s.feePpm > MAX_FEE_PPM) revert FeeTooHigh(s.feePpm);
        if (s.feePpm > 0 && (s.feeTo == address(0) || s.feeTo == address(this))) revert BadSwap();
        if (s.amountIn == 0 || s.minOut == 0 || s.tokenIn == s.tokenOut) revert BadSwap();
        if (s.executor == address(this)) revert BadSwap();
        if (s.recipient == address(0) || s.recipient == address(this) || s.recipient == s.executor) revert BadSwap();
        if (msg.value != (s.tokenIn == NATIVE ? s.amountIn : 0)) revert BadValue();
    }

    /// @dev No fee: the executor's pools pay the recipient.
    function _swapToRecipient(Swap calldata s, uint256[] calldata route) private returns (uint256) {
        uint256 before = Transfers.balanceOf(s.tokenOut, s.recipient);
        _execute(s, route, s.recipient);
        return Transfers.balanceOf(s.tokenOut, s.recipient) - before;
    }

    /// @dev With a fee. And the native coin for a contract, which may pass it on at once, so that its balance shows nothing.
    function _swapThroughRouter(Swap calldata s, uint256[] calldata route)
        private
        returns (uint256 amountOut, uint256 fee)
    {
        _execute(s, route, address(this));
        // Nothing lies here between swaps, so that all of it is this swap's.
        uint256 output = Transfers.balanceOf(s.tokenOut, address(this));
        if (s.feePpm > 0) {
            fee = output * s.feePpm / 1e6;
            if (fee > 0) Transfers.pay(s.tokenOut, s.feeTo, fee);
        }
        amountOut = output - fee;
        if (s.tokenOut == NATIVE) {
            Transfers.pay(NATIVE, s.recipient, amountOut);
        } else {
            // A token that takes a fee on transfer gives the recipient less.
            uint256 before = Transfers.balanceOf(s.tokenOut, s.recipient);
            Transfers.pay(s.tokenOut, s.recipient, amountOut);
            amountOut = Transfers.balanceOf(s.tokenOut, s.recipient) - before;
        }
    }

    function _execute(Swap calldata s, uint256[] calldata route, address to) private {
        if (s.tokenIn != NATIVE) Transfers.pull(s.tokenIn, msg.sender, s.executor, s.amountIn);
        ISwapExecutor(s.executor).executeSwapRoute{value: msg.value}(route, to, msg.sender);
    }
}
