// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title TransferProbe
/// @notice Measures how much of a token's transfers is lost, to detect fee-on-transfer tokens. Never deployed: an `eth_call` with
///   state overrides puts this code at two addresses, a holder of the token (a pool) and a counterparty.
contract TransferProbe {
    /// @dev The probe moves 1/BALANCE_DIVISOR of the holder's balance, to stay below a token's limit on single transfers, or half
    ///   of the balance if that part is below MIN_UNITS.
    uint256 private constant BALANCE_DIVISOR = 1000;
    uint256 private constant MIN_UNITS = 1e6;

    /// @notice Sends tokens from this contract to `other` and back.
    /// @return amount Amount sent; 0 if no balance changed
    /// @return lostOut Amount debited from the holder above `amount`, plus the part of `amount` that did not arrive
    /// @return lostBack The same for the transfer back; 0 if no balance changed
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

    /// @return sent `amount`; 0 if no balance changed
    /// @return received Amount credited to `to`
    /// @return lost Amount debited above `amount`, plus the part of `amount` that did not arrive
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
