// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISwapExecutor} from "./ISwapExecutor.sol";
import {NATIVE, Transfers} from "./Transfers.sol";

/// @title SwapRouter
/// @notice The only contract that users approve. Sends msg.sender's input to an executor, which trades it and pays the output to
///   this contract. Pays the referrer's fee and the recipient, and enforces the recipient's minimum.
/// @dev Invariant: a call can move only msg.sender's tokens, whatever its arguments are. There is no owner, no storage and no
///   upgrade.
///   Invariant: only this contract's own balance counts as output. During the call anyone may pay the recipient what it is owed
///   elsewhere (a limit order, a stream, a reward); that never counts toward the minimum.
///   The contract makes only these external calls:
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

    /// @param feeTo Recipient of the fee; indexed, so that it can find its fees
    /// @param executor Executor that traded the input
    /// @param amountOut Amount that the recipient received
    /// @param fee Amount sent to `feeTo`
    event Swapped(
        bytes32 indexed ref,
        address indexed sender,
        address indexed feeTo,
        address recipient,
        address executor,
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
    /// @dev The executor while it may pay the native coin, else zero.
    address private transient nativePayer;

    /// @notice Swaps msg.sender's tokens.
    /// @param route Passed to the executor, which defines its encoding
    /// @return amountOut Amount that the recipient received
    function swap(Swap calldata s, uint256[] calldata route) external payable returns (uint256 amountOut) {
        if (locked) revert Reentered();
        locked = true;
        _check(s);
        _execute(s, route);

        // This contract keeps no balance between swaps, so the whole balance is this swap's output.
        uint256 output = Transfers.balanceOf(s.tokenOut, address(this));
        uint256 fee = output * s.feePpm / 1e6;
        if (fee > 0) Transfers.pay(s.tokenOut, s.feeTo, fee);
        amountOut = _payRecipient(s, output - fee);
        if (amountOut < s.minOut) revert TooLittle(amountOut, s.minOut);

        _emitSwapped(s, amountOut, fee);
        locked = false;
    }

    /// @dev Accepts the native coin only from the executor of the current swap, and only as output.
    receive() external payable {
        if (msg.sender != nativePayer) revert BadValue();
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

    function _execute(Swap calldata s, uint256[] calldata route) private {
        if (s.tokenIn != NATIVE) Transfers.pull(s.tokenIn, msg.sender, s.executor, s.amountIn);
        if (s.tokenOut == NATIVE) nativePayer = s.executor;
        ISwapExecutor(s.executor).executeSwapRoute{value: msg.value}(route, address(this), msg.sender);
        nativePayer = address(0);
    }

    /// @return received Amount that reached the recipient, at most `amount`
    function _payRecipient(Swap calldata s, uint256 amount) private returns (uint256 received) {
        if (s.tokenOut == NATIVE) {
            // The recipient may forward the coin within the call, so a balance difference would not show the payment.
            Transfers.pay(NATIVE, s.recipient, amount);
            return amount;
        }
        // The recipient of a fee-on-transfer token receives less than was sent. More than was sent comes from elsewhere. What
        // comes from elsewhere during this transfer of such a token counts up to its fee.
        uint256 before = Transfers.balanceOf(s.tokenOut, s.recipient);
        Transfers.pay(s.tokenOut, s.recipient, amount);
        received = Transfers.balanceOf(s.tokenOut, s.recipient) - before;
        if (received > amount) received = amount;
    }

    function _emitSwapped(Swap calldata s, uint256 amountOut, uint256 fee) private {
        emit Swapped(
            s.ref,
            msg.sender,
            s.feeTo,
            s.recipient,
            s.executor,
            s.tokenIn,
            s.tokenOut,
            s.amountIn,
            amountOut,
            fee
        );
    }
}
