// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "../../src/Transfers.sol";

/// @dev For tests alone. Solidly's published formulas: volatile x·y = k, stable x³y + y³x = k, the fee taken of the input.
/// Eighteen decimals.
contract SolidlyPool {
    address public immutable token0;
    address public immutable token1;
    bool public immutable stable;
    uint256 public constant FEE_PPM = 500;
    uint256 private reserve0;
    uint256 private reserve1;

    constructor(address a, address b, bool stable_) {
        (token0, token1) = a < b ? (a, b) : (b, a);
        stable = stable_;
    }

    function sync() public {
        reserve0 = IERC20(token0).balanceOf(address(this));
        reserve1 = IERC20(token1).balanceOf(address(this));
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (reserve0, reserve1, block.timestamp);
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        amountIn -= amountIn * FEE_PPM / 1e6;
        (uint256 x, uint256 y) = tokenIn == token0 ? (reserve0, reserve1) : (reserve1, reserve0);
        if (!stable) return amountIn * y / (x + amountIn);
        return y - _y(x + amountIn, _k(x, y), y);
    }

    function swap(uint256 out0, uint256 out1, address to, bytes calldata) external {
        if (out0 > 0) IERC20(token0).transfer(to, out0);
        if (out1 > 0) IERC20(token1).transfer(to, out1);
        uint256 now0 = IERC20(token0).balanceOf(address(this));
        uint256 now1 = IERC20(token1).balanceOf(address(this));
        uint256 in0 = now0 > reserve0 - out0 ? now0 - (reserve0 - out0) : 0;
        uint256 in1 = now1 > reserve1 - out1 ? now1 - (reserve1 - out1) : 0;
        require(in0 + in1 > 0, "IIA");
        uint256 after_ = _k(now0 - in0 * FEE_PPM / 1e6, now1 - in1 * FEE_PPM / 1e6);
        require(after_ >= _k(reserve0, reserve1), "K");
        sync();
    }

    function _k(uint256 x, uint256 y) private view returns (uint256) {
        if (!stable) return x * y;
        return (x * y / 1e18) * (x * x / 1e18 + y * y / 1e18) / 1e18;
    }

    function _y(uint256 x, uint256 k, uint256 y) private view returns (uint256) {
        for (uint256 i = 0; i < 255; i++) {
            uint256 now_ = _k(x, y);
            uint256 slope = 3 * x * (y * y / 1e18) / 1e18 + x * x / 1e18 * x / 1e18;
            uint256 step = now_ < k ? (k - now_) * 1e18 / slope : (now_ - k) * 1e18 / slope;
            if (step == 0) return now_ < k ? y + 1 : y;
            y = now_ < k ? y + step : y - step;
        }
        revert("!y");
    }
}
