// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What a transfer of a token costs besides
/// @notice Never deployed. In a simulated call (`eth_call` with its code put at two addresses) it stands in the place of a pool
/// that holds a token and of somebody who trades with it.
contract TransferProbe {
    /// @dev So little of a holding is moved that limits on single transfers are kept, unless that were too few units.
    uint256 private constant BALANCE_DIVISOR = 1000;
    uint256 private constant MIN_UNITS = 1e6;

    /// @return amount What was sent; 0 where the token did not move.
    /// @return lostOut How much more was taken of the holder, or less arrived, than that.
    /// @return lostBack The same of sending all of it back; 0 where the token did not move.
    function measure(address token, address other)
        external
        returns (uint256 amount, uint256 lostOut, uint256 lostBack)
    {
        uint256 balance = _balance(token, address(this));
        uint256 planned = balance / BALANCE_DIVISOR < MIN_UNITS ? balance / 2 : balance / BALANCE_DIVISOR;
        uint256 received;
        (amount, received, lostOut) = move(token, other, planned);
        if (amount == 0 || received == 0) return (amount, lostOut, 0);
        try TransferProbe(other).move(token, address(this), received) returns (uint256, uint256, uint256 lost) {
            lostBack = lost;
        } catch {}
    }

    /// @return sent The amount; 0 where nothing moved.
    /// @return got What arrived of it.
    /// @return lost What was taken beyond the amount, and what of it did not arrive.
    function move(address token, address to, uint256 amount)
        public
        returns (uint256 sent, uint256 received, uint256 lost)
    {
        uint256 senderBefore = _balance(token, address(this));
        uint256 recipientBefore = _balance(token, to);
        (bool success,) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        if (!success) return (0, 0, 0);
        uint256 senderAfter = _balance(token, address(this));
        uint256 recipientAfter = _balance(token, to);
        uint256 spent = senderAfter < senderBefore ? senderBefore - senderAfter : 0;
        received = recipientAfter > recipientBefore ? recipientAfter - recipientBefore : 0;
        if (spent == 0 && received == 0) return (0, 0, 0);
        lost = (spent > amount ? spent - amount : 0) + (received < amount ? amount - received : 0);
        return (amount, received, lost);
    }

    function _balance(address token, address holder) private view returns (uint256 balance) {
        (bool success, bytes memory result) =
            token.staticcall(abi.encodeWithSignature("balanceOf(address)", holder));
        if (success && result.length >= 32) balance = abi.decode(result, (uint256));
    }
}
