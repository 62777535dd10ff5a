// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";
import {TestToken} from "./tokens/TestToken.sol";

/// @dev Tokens that deviate from ERC-20.
contract TokensTest is Market {
    using Route for uint256[];

    function twoHopRoute(uint256 flags) private view returns (uint256[] memory route) {
        route = Route.start(a, c).token(b);
        route = route.step(step(Route.UNISWAP_V2, 0, 2, flags, Route.ALL, 3000, v2ab));
        uint256 lastFlags = flags == Route.TO_NEXT_POOL ? Route.PREPAID | Route.TO_TARGET : Route.TO_TARGET;
        route = route.step(step(Route.UNISWAP_V2, 2, 1, lastFlags, Route.ALL, 3000, v2bc));
    }

    function test_supportsTokensWithoutReturnValue() public {
        TestToken(a).setReturnMode(1);
        TestToken(b).setReturnMode(1);
        TestToken(a).setResetsAllowance(true);
        for (uint256 i = 0; i < poolKinds.length; i++) {
            // The test pools of these kinds require a return value; the protocols' own pools do not.
            if (poolKinds[i].kind == Route.SOLIDLY || poolKinds[i].kind == Route.CURVE) continue;
            if (poolKinds[i].kind == Route.LIQUIDITY_BOOK) continue;
            swap(withFee(swapOrder(a, 50e18, b), 1000), withStep(Route.start(a, b), poolKinds[i]));
            assertNothingHeld();
        }
    }

    function test_supportsTokensThatNeedAllowanceResets() public {
        TestToken(a).setResetsAllowance(true);
        for (uint256 n = 0; n < 2; n++) {
            for (uint256 i = 0; i < poolKinds.length; i++) swap(swapOrder(a, 50e18, b), withStep(Route.start(a, b), poolKinds[i]));
        }
        assertNothingHeld();
    }

    function test_revertsIfATokenReturnsFalse() public {
        TestToken(a).setReturnMode(2);
        expectSwapRevert(swapOrder(a, 1e18, b), Route.one(a, b, poolKinds[0]), Transfers.TokenRefused.selector);
        TestToken(a).setReturnMode(0);
        TestToken(b).setReturnMode(2);
        for (uint256 i = 0; i < poolKinds.length; i++) {
            expectSwapRevert(swapOrder(a, 1e18, b), withStep(Route.start(a, b), poolKinds[i]), 0);
        }
    }

    function test_revertsIfTheTokenHasNoCode() public {
        SwapRouter.Swap memory s = swapOrder(address(0xDEAD), 1e18, b);
        vm.expectRevert(abi.encodeWithSelector(Transfers.TokenRefused.selector, address(0xDEAD)));
        vm.prank(user);
        router.swap(s, Route.one(address(0xDEAD), b, poolKinds[0]));
    }

    function test_feeOnTransferInput() public {
        TestToken(a).setTransferFee(20_000);
        for (uint256 i = 0; i < poolKinds.length; i++) {
            uint256[] memory route = withStep(Route.start(a, b), poolKinds[i]);
            // Pools that measure their input accept the token; pools that are passed an amount revert.
            if (acceptsPrepaidInput(poolKinds[i].kind)) swap(swapOrder(a, 100e18, b), route);
            else if (poolKinds[i].kind != Route.CURVE && poolKinds[i].kind != Route.BALANCER_V2) {
                expectSwapRevert(swapOrder(a, 1e18, b), route, 0);
            }
            assertNothingHeld();
        }
    }

    function test_feeOnTransferOutput() public {
        TestToken(b).setTransferFee(20_000);
        uint256 before;
        for (uint256 i = 0; i < poolKinds.length; i++) {
            before = IERC20(b).balanceOf(recipient);
            uint256 out = swap(swapOrder(a, 100e18, b), withStep(Route.start(a, b), poolKinds[i]));
            assertEq(IERC20(b).balanceOf(recipient) - before, out, "received");
            before += out;
            out = swap(withFee(swapOrder(a, 100e18, b), 5000), withStep(Route.start(a, b), poolKinds[i]));
            assertEq(IERC20(b).balanceOf(recipient) - before, out, "received after the fee");
            assertNothingHeld();
        }
    }

    function test_feeOnTransferIntermediateToken() public {
        TestToken(b).setTransferFee(20_000);
        swap(swapOrder(a, 100e18, c), twoHopRoute(Route.TO_EXECUTOR));
        swap(swapOrder(a, 100e18, c), twoHopRoute(Route.TO_NEXT_POOL));
        assertNothingHeld();
    }

    /// @dev When a pool pays the next pool directly, the token is transferred once less.
    function test_directPoolPaymentAvoidsOneTransferFee() public {
        TestToken(b).setTransferFee(20_000);
        uint256 snapshot = vm.snapshotState();
        uint256 throughExecutor = swap(swapOrder(a, 100e18, c), twoHopRoute(Route.TO_EXECUTOR));
        vm.revertToState(snapshot);
        assertTrue(swap(swapOrder(a, 100e18, c), twoHopRoute(Route.TO_NEXT_POOL)) > throughExecutor, "larger output");
    }

    /// @dev ERC-777: the token calls into router and executor during a transfer.
    function test_rejectsReentryFromATokenHook() public {
        uint256[] memory sweepRoute = new uint256[](2);
        (sweepRoute[0], sweepRoute[1]) = (1, uint256(uint160(b)));
        address attacker = address(0xBAD);
        bytes[3] memory calls = [
            abi.encodeCall(SwapExecutor.executeSwapRoute, (sweepRoute, attacker, attacker)),
            abi.encodeCall(SwapRouter.swap, (mintingSwap(b), sweepRoute)),
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), "")
        ];
        for (uint256 i = 0; i < 3; i++) {
            TestToken(b).setHook(i == 1 ? address(router) : address(executor), calls[i]);
            for (uint256 k = 0; k < poolKinds.length; k++) {
                Route.Step memory s = poolKinds[k];
                s.flags = Route.TO_EXECUTOR;
                swap(withFee(swapOrder(a, 10e18, b), 10), withStep(Route.start(a, b), s));
                assertTrue(TestToken(b).hookFailed(), "refused");
                // The executor has finished when the router pays. Then it has nothing that a call could take.
                if (i == 1) assertTrue(!TestToken(b).hookSucceeded(), "refused every time");
                assertNothingHeld();
            }
        }
        assertEq(IERC20(b).balanceOf(attacker), 0, "attacker's balance");
    }

    /// @dev A fake wrapped native coin that keeps deposits and reports a false balance. The minimum output reverts the swap.
    function test_maliciousWrappedCoinCannotPassTheMinimum() public {
        vm.deal(address(0xC0FFEE), 5e18);
        uint256[] memory route = Route.start(NATIVE, a).token(address(new MaliciousWrapped()));
        route = route.step(step(Route.WRAP, 0, 2, 0, Route.ALL, 0, address(0)));
        route = route.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, Route.ALL, 3000, v2aw));
        expectSwapRevert(swapOrder(NATIVE, 10e18, a), route, 0);
        assertEq(user.balance, 10e18, "native balance of the caller");
    }
}

contract MaliciousWrapped {
    function deposit() external payable {}

    function balanceOf(address) external pure returns (uint256) {
        return 10e18;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }
}
