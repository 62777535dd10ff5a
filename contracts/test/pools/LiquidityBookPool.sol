// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "../../src/Transfers.sol";

/// @dev For tests alone. One bin of a Liquidity Book: a constant price of token Y for X, the fee taken of the input, input counted
/// as what lies above the reserves.
contract LiquidityBookPool {
    address public immutable tokenX;
    address public immutable tokenY;
    uint256 public immutable price;
    uint256 public constant FEE_PPM = 2_000;
    uint256 public reserveX;
    uint256 public reserveY;

    constructor(address x, address y, uint256 price_) {
        (tokenX, tokenY, price) = (x, y, price_);
    }

    function sync() public {
        reserveX = IERC20(tokenX).balanceOf(address(this));
        reserveY = IERC20(tokenY).balanceOf(address(this));
    }

    function getAmountOut(uint256 amountIn, bool swapForY) public view returns (uint256) {
        uint256 kept = amountIn - amountIn * FEE_PPM / 1e6;
        return swapForY ? kept * price / 1e18 : kept * 1e18 / price;
    }

    function swap(bool swapForY, address to) external returns (bytes32) {
        (address tokenIn, address tokenOut) = swapForY ? (tokenX, tokenY) : (tokenY, tokenX);
        uint256 amountIn = IERC20(tokenIn).balanceOf(address(this)) - (swapForY ? reserveX : reserveY);
        require(amountIn > 0, "InsufficientAmountIn");
        uint256 out = getAmountOut(amountIn, swapForY);
        IERC20(tokenOut).transfer(to, out);
        sync();
        return bytes32(out);
    }
}
