// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IPoolManager, IUniswapV3Pool, IBalancerVault, IPair} from "../src/Venues.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";

/// @dev Every kind alone: what the executor gets is what the pool pays whoever asks it directly.
contract KindsTest is Market {
    using Route for uint256[];

    function test_everyKindPaysWhatItPaysDirectly() public {
        for (uint256 i = 0; i < kinds.length; i++) {
            uint256 amount = 12_345e18 + 67 * i;
            uint256 expected = direct(kinds[i], amount);
            uint256 before = IERC20(b).balanceOf(recipient);
            uint256 out = swap(order(a, amount, b), withLeg(Route.start(a, b), kinds[i]));
            same("out", out, expected);
            same("received", IERC20(b).balanceOf(recipient) - before, expected);
            nothingStays();
        }
    }

    function test_everyKindWithAFee() public {
        for (uint256 i = 0; i < kinds.length; i++) {
            uint256 amount = 777e18 + i;
            uint256 expected = direct(kinds[i], amount);
            uint256 before = IERC20(b).balanceOf(partner);
            uint256 out = swap(withFee(order(a, amount, b), 12_345), withLeg(Route.start(a, b), kinds[i]));
            uint256 fee = expected * 12_345 / 1e6;
            same("fee", IERC20(b).balanceOf(partner) - before, fee);
            same("out", out, expected - fee);
            nothingStays();
        }
    }

    function test_everyKindBackwards() public {
        for (uint256 i = 0; i < kinds.length; i++) {
            Route.Leg memory l = kinds[i];
            if (l.kind == Route.CURVE) l.extra = l.extra ^ 1 ^ 1 << 8;
            if (l.kind == Route.LIQUIDITY_BOOK) l.extra = 0;
            uint256 before = IERC20(a).balanceOf(recipient);
            uint256 out = swap(order(b, 1e18, a), withLeg(Route.start(b, a), l));
            same("received", IERC20(a).balanceOf(recipient) - before, out);
            yes("about one", out > 0.2e18 && out < 5e18);
            nothingStays();
        }
    }

    function test_everyKindPassesOverNothing() public {
        for (uint256 i = 0; i < kinds.length; i++) {
            Route.Leg memory thin = kinds[i];
            thin.share = 1;
            // A share of 2^-24 of 1000 units is none.
            uint256[] memory route = withLeg(withLeg(Route.start(a, b), thin), kinds[0]);
            uint256 expected = direct(kinds[0], 1000);
            same("out", swap(order(a, 1000, b), route), expected);
        }
    }

    /// @dev What the pool would pay the test itself, without lasting effect.
    function direct(Route.Leg memory l, uint256 amount) private returns (uint256 out) {
        try this.trade(l, amount) {
            revert("did not revert");
        } catch (bytes memory word) {
            yes("answer", word.length == 32);
            out = uint256(bytes32(word));
        }
    }

    /// @dev Reverts with what came out.
    function trade(Route.Leg memory l, uint256 amount) external {
        uint256 before = IERC20(b).balanceOf(address(this));
        if (l.kind == Route.UNISWAP_V2) pair(l.pool, amount);
        else if (l.kind == Route.UNISWAP_V3) concentrated(l.pool, amount);
        else if (l.kind == Route.UNISWAP_V4) IPoolManager(manager).unlock(abi.encode(amount));
        else if (l.kind == Route.SOLIDLY) answer(solidly.getAmountOut(amount, a));
        else if (l.kind == Route.CURVE) answer(curve.get_dy(0, 1, amount));
        else if (l.kind == Route.BALANCER_V2) balancer(amount);
        else answer(bookOut(amount));
        answer(IERC20(b).balanceOf(address(this)) - before);
    }

    function bookOut(uint256 amount) private view returns (uint256) {
        (, uint128 out,) = book.getSwapOut(uint128(amount), true);
        return out;
    }

    /// @dev The pair itself says what the most is that it gives: one more breaks its invariant.
    function pair(address pool, uint256 amount) private {
        give(a, pool, amount);
        (uint256 r0, uint256 r1,) = IPair(pool).getReserves();
        (uint256 x, uint256 y) = a < b ? (r0, r1) : (r1, r0);
        // UniswapV2Library.getAmountOut.
        uint256 out = amount * 997 * y / (x * 1000 + amount * 997);
        (uint256 more0, uint256 more1) = a < b ? (uint256(0), out + 1) : (out + 1, uint256(0));
        vm.expectRevert();
        IPair(pool).swap(more0, more1, address(this), "");
        (uint256 out0, uint256 out1) = a < b ? (uint256(0), out) : (out, uint256(0));
        IPair(pool).swap(out0, out1, address(this), "");
    }

    function concentrated(address pool, uint256 amount) private {
        uint160 limit = a < b ? 4295128740 : 1461446703485210103287273052203988822378723970341;
        IUniswapV3Pool(pool).swap(address(this), a < b, int256(amount), limit, abi.encode(a));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        uint256 amount = abi.decode(data, (uint256));
        (address c0, address c1) = a < b ? (a, b) : (b, a);
        uint160 limit = a < b ? 4295128740 : 1461446703485210103287273052203988822378723970341;
        int256 delta = IPoolManager(manager).swap(
            IPoolManager.PoolKey(c0, c1, 100, 1, address(0)), IPoolManager.SwapParams(a < b, -int256(amount), limit), ""
        );
        IPoolManager(manager).sync(a);
        give(a, manager, amount);
        IPoolManager(manager).settle();
        IPoolManager(manager).take(b, address(this), uint128(a < b ? int128(delta) : int128(delta >> 128)));
        return "";
    }

    function balancer(uint256 amount) private {
        give(a, address(this), amount);
        IERC20(a).approve(vault, amount);
        IBalancerVault(vault)
            .swap(
                IBalancerVault.SingleSwap(poolId, 0, a, b, amount, ""),
                IBalancerVault.FundManagement(address(this), false, address(this), false),
                0,
                block.timestamp
            );
    }

    function answer(uint256 out) private pure {
        assembly ("memory-safe") {
            mstore(0, out)
            revert(0, 32)
        }
    }
}
