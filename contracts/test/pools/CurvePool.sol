// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "../../src/Transfers.sol";

/// @dev For tests alone. Two coins of eighteen decimals by Curve's published stable swap invariant. Like Curve's oldest pools it
/// returns nothing. Both forms of `exchange`.
contract CurvePool {
    address[2] public coins;
    uint256 private constant ANN = 200 * 2;
    /// @dev Of 10^10.
    uint256 private constant FEE = 4_000_000;

    constructor(address coin0, address coin1) {
        coins = [coin0, coin1];
    }

    function exchange(int128 i, int128 j, uint256 amountIn, uint256 minOut) external {
        _exchange(uint128(i), uint128(j), amountIn, minOut);
    }

    function exchange(uint256 i, uint256 j, uint256 amountIn, uint256 minOut) external {
        _exchange(i, j, amountIn, minOut);
    }

    function getAmountOut(uint256 i, uint256 j, uint256 amountIn) public view returns (uint256) {
        uint256 x = IERC20(coins[i]).balanceOf(address(this));
        uint256 y = IERC20(coins[j]).balanceOf(address(this));
        uint256 dy = y - _y(x + amountIn, _d(x, y)) - 1;
        return dy - dy * FEE / 1e10;
    }

    function _exchange(uint256 i, uint256 j, uint256 amountIn, uint256 minOut) private {
        uint256 out = getAmountOut(i, j, amountIn);
        require(out >= minOut);
        IERC20(coins[i]).transferFrom(msg.sender, address(this), amountIn);
        IERC20(coins[j]).transfer(msg.sender, out);
    }

    function _d(uint256 x, uint256 y) private pure returns (uint256 d) {
        uint256 s = x + y;
        d = s;
        for (uint256 n = 0; n < 255; n++) {
            uint256 p = d * d / (x * 2) * d / (y * 2);
            uint256 before = d;
            d = (ANN * s + p * 2) * d / ((ANN - 1) * d + 3 * p);
            if (d > before ? d - before <= 1 : before - d <= 1) break;
        }
    }

    function _y(uint256 x, uint256 d) private pure returns (uint256 y) {
        uint256 c = d * d / (x * 2) * d / (ANN * 2);
        uint256 b = x + d / ANN;
        y = d;
        for (uint256 n = 0; n < 255; n++) {
            uint256 before = y;
            y = (y * y + c) / (2 * y + b - d);
            if (y > before ? y - before <= 1 : before - y <= 1) break;
        }
    }
}
