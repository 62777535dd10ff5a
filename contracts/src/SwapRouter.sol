// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISwapExecutor} from "./ISwapExecutor.sol";
import {NATIVE, Transfers} from "./Transfers.sol";

/// @title SwapRouter
/// @notice The only contract that users approve. Sends msg.sender's input to an executor, which trades it, pays the referrer's
///   fee and enforces the minimum that the recipient receives.
/// @dev Invariant: a call can move only msg.sender's tokens, whatever its arguments are. There is no owner, no storage and no
///   upgrade. The contract makes only these external calls:
///   - `transferFrom` on the input token, with msg.sender as `from`;
///   - `executeSwapRoute` on the executor that the caller names; no token has this selector;
///   - `transfer` and `balanceOf` on the output token, and plain transfers of the native coin.
contract SwapRouter {
    struct Swap {
        /// @dev NATIVE for the native coin, which the caller sends as msg.value.
        address tokenIn;
        uint256 amountIn;
        /// @dev NATIVE for the native coin.
        address tokenOut;
        /// @dev Minimum amount that the recipient receives, after the fee. Never zero.
        uint256 minOut;
        address recipient;
        address feeTo;
        /// @dev Fee in millionths of the output. The fee is rounded down.
        uint256 feePpm;
        /// @dev The caller's reference, used only in the `Swapped` event.
        bytes32 ref;
        /// @dev Last valid block timestamp.
        uint256 deadline;
        address executor;
    }

    /// @param amountOut Amount that the recipient received
    /// @param fee Amount sent to `feeTo`
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
    /// @dev A token, amount, recipient, fee recipient or executor is not allowed.
    error BadSwap();
    /// @dev msg.value does not match the input, or native coin arrived outside of a swap.
    error BadValue();
    error FeeTooHigh(uint256 feePpm);
    error TooLittle(uint256 amountOut, uint256 minOut);

    /// @dev 5 %.
    uint256 public constant MAX_FEE_PPM = 50_000;

    /// @dev Reentrancy lock.
    bool private transient locked;

    /// @notice Swaps msg.sender's tokens.
    /// @param route Passed to the executor, which defines its encoding
    /// @return amountOut Amount that the recipient received
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

    /// @dev Accepts the native coin only during a swap, when an executor pays it.
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

    /// @dev Without a fee the executor pays the recipient directly.
    function _swapToRecipient(Swap calldata s, uint256[] calldata route) private returns (uint256) {
        uint256 before = Transfers.balanceOf(s.tokenOut, s.recipient);
        _execute(s, route, s.recipient);
        return Transfers.balanceOf(s.tokenOut, s.recipient) - before;
    }

    /// @dev The executor pays this contract, which pays the fee and the recipient. Used with a fee, and when a contract receives
    ///   the native coin: the contract may forward the coin within the call, so a balance difference would not show the payment.
    function _swapThroughRouter(Swap calldata s, uint256[] calldata route)
        private
        returns (uint256 amountOut, uint256 fee)
    {
        _execute(s, route, address(this));
        // This contract keeps no balance between swaps, so the whole balance is this swap's output.
        uint256 output = Transfers.balanceOf(s.tokenOut, address(this));
        if (s.feePpm > 0) {
            fee = output * s.feePpm / 1e6;
            if (fee > 0) Transfers.pay(s.tokenOut, s.feeTo, fee);
        }
        amountOut = output - fee;
        if (s.tokenOut == NATIVE) {
            Transfers.pay(NATIVE, s.recipient, amountOut);
        } else {
            // The recipient of a fee-on-transfer token receives less than was sent.
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
