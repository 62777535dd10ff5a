// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title What a transfer of a token costs besides
/// @notice Never deployed. In a simulated call (`eth_call` with its code put at two addresses) it stands in the place of a pool
/// that holds a token and of somebody who trades with it.
contract TransferProbe {
    /// @dev So little of a holding is moved that limits on single transfers are kept, unless that were too few units.
    uint256 private constant PART = 1000;
    uint256 private constant UNITS_MIN = 1e6;

    /// @return amount What was sent; 0 where the token did not move.
    /// @return lostOut How much more was taken of the holder, or less arrived, than that.
    /// @return lostBack The same of sending all of it back; 0 where the token did not move.
    function measure(address token, address other)
        external
        returns (uint256 amount, uint256 lostOut, uint256 lostBack)
    {
        uint256 held = _balance(token, address(this));
        uint256 planned = held / PART < UNITS_MIN ? held / 2 : held / PART;
        uint256 got;
        (amount, got, lostOut) = move(token, other, planned);
        if (amount == 0 || got == 0) return (amount, lostOut, 0);
        try TransferProbe(other).move(token, address(this), got) returns (uint256, uint256, uint256 lost) {
            lostBack = lost;
        } catch {}
    }

    /// @return sent The amount; 0 where nothing moved.
    /// @return got What arrived of it.
    /// @return lost What was taken beyond the amount, and what of it did not arrive.
    function move(address token, address to, uint256 amount) public returns (uint256 sent, uint256 got, uint256 lost) {
        uint256 own = _balance(token, address(this));
        uint256 theirs = _balance(token, to);
        (bool done,) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        if (!done) return (0, 0, 0);
        uint256 left = _balance(token, address(this));
        uint256 there = _balance(token, to);
        uint256 spent = left < own ? own - left : 0;
        got = there > theirs ? there - theirs : 0;
        if (spent == 0 && got == 0) return (0, 0, 0);
        lost = (spent > amount ? spent - amount : 0) + (got < amount ? amount - got : 0);
        return (amount, got, lost);
    }

    function _balance(address token, address holder) private view returns (uint256 balance) {
        (bool done, bytes memory answer) =
            token.staticcall(abi.encodeWithSignature("balanceOf(address)", holder));
        if (done && answer.length >= 32) balance = abi.decode(answer, (uint256));
    }
}
