// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IPoolManager, IUniswapV3Pool, IBalancerVault, IPair} from "../src/Venues.sol";
import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";

/// @dev For every pool kind the executor receives the same output as a direct swap with the pool.
contract PoolKindsTest is Market {
    using Route for uint256[];

    function test_everyKindPaysTheSameAsADirectSwap() public {
        for (uint256 i = 0; i < poolKinds.length; i++) {
            uint256 amount = 12_345e18 + 67 * i;
            uint256 expected = quoteDirectly(poolKinds[i], amount);
            uint256 before = IERC20(b).balanceOf(recipient);
            uint256 out = swap(swapOrder(a, amount, b), withStep(Route.start(a, b), poolKinds[i]));
            assertEq(out, expected, "out");
            assertEq(IERC20(b).balanceOf(recipient) - before, expected, "received");
            assertNothingHeld();
        }
    }

    function test_everyKindPaysTheFee() public {
        for (uint256 i = 0; i < poolKinds.length; i++) {
            uint256 amount = 777e18 + i;
            uint256 expected = quoteDirectly(poolKinds[i], amount);
            uint256 before = IERC20(b).balanceOf(partner);
            uint256 out = swap(withFee(swapOrder(a, amount, b), 12_345), withStep(Route.start(a, b), poolKinds[i]));
            uint256 fee = expected * 12_345 / 1e6;
            assertEq(IERC20(b).balanceOf(partner) - before, fee, "fee");
            assertEq(out, expected - fee, "out");
            assertNothingHeld();
        }
    }

    function test_everyKindSwapsInReverse() public {
        for (uint256 i = 0; i < poolKinds.length; i++) {
            Route.Step memory s = poolKinds[i];
            if (s.kind == Route.CURVE) s.extra = s.extra ^ 1 ^ 1 << 8;
            if (s.kind == Route.LIQUIDITY_BOOK) s.extra = 0;
            uint256 before = IERC20(a).balanceOf(recipient);
            uint256 out = swap(swapOrder(b, 1e18, a), withStep(Route.start(b, a), s));
            assertEq(IERC20(a).balanceOf(recipient) - before, out, "received");
            assertTrue(out > 0.2e18 && out < 5e18, "output near the input");
            assertNothingHeld();
        }
    }

    function test_everyKindRejectsAShareThatRoundsDownToZero() public {
        for (uint256 i = 0; i < poolKinds.length; i++) {
            Route.Step memory smallStep = poolKinds[i];
            smallStep.share = 1;
            // 2^-24 of 1000 units rounds down to zero.
            uint256[] memory route = withStep(withStep(Route.start(a, b), smallStep), poolKinds[0]);
            expectSwapRevert(swapOrder(a, 1000, b), route, SwapExecutor.NoInput.selector);
        }
    }

    /// @dev The output of a direct swap by this test, which is then reverted.
    function quoteDirectly(Route.Step memory s, uint256 amount) private returns (uint256 out) {
        try this.trade(s, amount) {
            revert("did not revert");
        } catch (bytes memory result) {
            assertTrue(result.length == 32, "revert data");
            out = uint256(bytes32(result));
        }
    }

    /// @dev Swaps directly and reverts with the output amount.
    function trade(Route.Step memory s, uint256 amount) external {
        uint256 before = IERC20(b).balanceOf(address(this));
        if (s.kind == Route.UNISWAP_V2) pair(s.pool, amount);
        else if (s.kind == Route.UNISWAP_V3) concentrated(s.pool, amount);
        else if (s.kind == Route.UNISWAP_V4) IPoolManager(manager).unlock(abi.encode(amount));
        else if (s.kind == Route.SOLIDLY) revertWith(solidly.getAmountOut(amount, a));
        else if (s.kind == Route.CURVE) revertWith(curve.get_dy(0, 1, amount));
        else if (s.kind == Route.BALANCER_V2) balancer(amount);
        else revertWith(bookOut(amount));
        revertWith(IERC20(b).balanceOf(address(this)) - before);
    }

    function bookOut(uint256 amount) private view returns (uint256) {
        (, uint128 out,) = book.getSwapOut(uint128(amount), true);
        return out;
    }

    /// @dev The computed output is the maximum: the pair reverts on one unit more.
    function pair(address pool, uint256 amount) private {
        mintTo(a, pool, amount);
        (uint256 r0, uint256 r1,) = IPair(pool).getReserves();
        (uint256 x, uint256 y) = a < b ? (r0, r1) : (r1, r0);
        // UniswapV2Library.getAmountOut.
        uint256 out = amount * 997 * y / (x * 1000 + amount * 997);
        (uint256 excess0, uint256 excess1) = a < b ? (uint256(0), out + 1) : (out + 1, uint256(0));
        vm.expectRevert();
        IPair(pool).swap(excess0, excess1, address(this), "");
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
        mintTo(a, manager, amount);
        IPoolManager(manager).settle();
        IPoolManager(manager).take(b, address(this), uint128(a < b ? int128(delta) : int128(delta >> 128)));
        return "";
    }

    function balancer(uint256 amount) private {
        mintTo(a, address(this), amount);
        IERC20(a).approve(vault, amount);
        IBalancerVault(vault)
            .swap(
                IBalancerVault.SingleSwap(poolId, 0, a, b, amount, ""),
                IBalancerVault.FundManagement(address(this), false, address(this), false),
                0,
                block.timestamp
            );
    }

    function revertWith(uint256 out) private pure {
        assembly ("memory-safe") {
            mstore(0, out)
            revert(0, 32)
        }
    }
}
