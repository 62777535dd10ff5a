// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ExternalExecutor} from "../src/ExternalExecutor.sol";
import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";
import {Debt, DiversionWrapped, LimitOrder} from "./pools/Income.sol";
import {HookedWrapped, Relay} from "./tokens/HookedWrapped.sol";
import {TestToken} from "./tokens/TestToken.sol";

/// @dev Swaps during which hostile code pays the recipient what it is owed elsewhere: a fill of its own order, a stream, a reward.
///   Such income never counts as output (D1). docs/threat-model.md describes the attack.
contract IncomeTest is Market {
    using Route for uint256[];

    uint256 private constant INCOME = 100e18;
    uint256 private constant SOLD = 3000e18;
    uint256 private constant KINDS_OF_INCOME = 3;
    address private attacker = address(0xBAD);

    /// @dev What the recipient is owed in b, and the call with which anyone can make it paid.
    function createIncome(uint256 kind) private returns (address payer, bytes memory call) {
        if (kind == 0) {
            mintTo(b, attacker, INCOME);
            mintTo(c, recipient, SOLD);
            payer = address(new LimitOrder(recipient, attacker, IERC20(c), SOLD, IERC20(b), INCOME));
            vm.prank(attacker);
            IERC20(b).approve(payer, INCOME);
            vm.prank(recipient);
            IERC20(c).approve(payer, SOLD);
            return (payer, abi.encodeCall(LimitOrder.fill, ()));
        }
        payer = address(new Debt(recipient, b, INCOME));
        mintTo(b, payer, INCOME);
        call = kind == 1 ? abi.encodeCall(Debt.withdraw, ()) : abi.encodeCall(Debt.getReward, (recipient));
    }

    /// @dev The proof of concept: a token on the route moves nothing and fills the recipient's own order.
    function test_minimumIsNotPaidWithTheRecipientsOwnOrder() public {
        address evil = address(new TestToken());
        address first = uniswapV2Pair(a, evil, 1000e18, 1000e18);
        address second = uniswapV2Pair(evil, b, 1000e18, 101_000e18);
        uint256[] memory direct = Route.start(a, b).token(evil);
        uint256[] memory throughExecutor = direct;
        direct = direct.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_NEXT_POOL, Route.ALL, 3000, first));
        direct = direct.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET | Route.PREPAID, Route.ALL, 3000, second));
        throughExecutor = throughExecutor.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_EXECUTOR, Route.ALL, 3000, first));
        throughExecutor = throughExecutor.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, Route.ALL, 3000, second));
        SwapRouter.Swap memory s = swapOrder(a, 1e18, b);
        s.minOut = 99e18;
        uint256 snapshot = vm.snapshotState();
        assertTrue(swap(s, direct) > 99e18, "an honest token pays the minimum");
        vm.revertToState(snapshot);

        (address payer, bytes memory call) = createIncome(0);
        TestToken(evil).setHookDuring(first, payer, call);
        TestToken(evil).setTransferFee(1_000_000);
        expectSwapRevert(s, direct, SwapExecutor.NoInput.selector);
        expectSwapRevert(s, throughExecutor, SwapExecutor.NoInput.selector);
        // A millionth arrives: the steps succeed, and the order's fill does not count.
        TestToken(evil).setTransferFee(999_999);
        expectSwapRevert(s, direct, SwapRouter.TooLittle.selector);
        expectSwapRevert(s, throughExecutor, SwapRouter.TooLittle.selector);
        assertEq(IERC20(c).balanceOf(recipient), SOLD, "unsold");
    }

    function test_incomeDuringAnyStepDoesNotCount() public {
        for (uint256 i = 0; i < poolKinds.length; i++) {
            for (uint256 kind = 0; kind < KINDS_OF_INCOME; kind++) {
                checkIncomeDuring(a, poolKinds[i].pool, withStep(Route.start(a, b), poolKinds[i]), kind);
            }
        }
    }

    /// @dev The recipient is paid while the router pays it: at most what the router sent counts.
    function test_incomeDuringTheLastTransferDoesNotCount() public {
        for (uint256 kind = 0; kind < KINDS_OF_INCOME; kind++) {
            checkIncomeDuring(b, recipient, Route.one(a, b, poolKinds[0]), kind);
        }
    }

    /// @dev The bound of D1: of a token that taxes its transfers, income during the last transfer counts for the tax, and no more.
    function test_incomeDuringTheLastTransferOfATaxedTokenCountsForTheTaxAtMost() public {
        TestToken(b).setTransferFee(50_000);
        SwapRouter.Swap memory s = swapOrder(a, 10e18, b);
        uint256[] memory route = Route.one(a, b, poolKinds[0]);
        uint256 snapshot = vm.snapshotState();
        uint256 arrived = swap(s, route);
        vm.revertToState(snapshot);
        (address payer, bytes memory call) = createIncome(1);
        TestToken(b).setHookDuring(recipient, payer, call);
        snapshot = vm.snapshotState();
        uint256 sent = swap(s, route);
        assertEq(sent - sent * 50_000 / 1e6, arrived, "arrived");
        vm.revertToState(snapshot);
        s.minOut = sent + 1;
        expectSwapRevert(s, route, SwapRouter.TooLittle.selector);
    }

    /// @dev `token` pushes the income while it moves from or to `party`.
    function checkIncomeDuring(address token, address party, uint256[] memory route, uint256 kind) private {
        uint256 start = vm.snapshotState();
        SwapRouter.Swap memory s = swapOrder(a, 10e18, b);
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(s, route);
        vm.revertToState(snapshot);

        (address payer, bytes memory call) = createIncome(kind);
        TestToken(token).setHookDuring(party, payer, call);
        snapshot = vm.snapshotState();
        assertEq(swap(s, route), out, "out");
        assertEq(IERC20(b).balanceOf(recipient), out + INCOME, "received");
        vm.revertToState(snapshot);
        s.minOut = out + 1;
        expectSwapRevert(s, route, SwapRouter.TooLittle.selector);
        vm.revertToState(start);
    }

    /// @dev Routes whose first step wraps or unwraps a hooked coin. Both pay b.
    function hookedRoutes(HookedWrapped hooked) private returns (SwapRouter.Swap[2] memory swaps, uint256[][2] memory routes) {
        address coin = address(hooked);
        address coinPair = uniswapV2Pair(coin, b, DEPTH, DEPTH);
        address wrappedPair = uniswapV2Pair(w, b, DEPTH, DEPTH);
        vm.deal(coin, DEPTH);
        swaps[0] = swapOrder(NATIVE, 10e18, b);
        routes[0] = Route.start(NATIVE, b).token(coin);
        routes[0] = routes[0].step(step(Route.WRAP, 0, 2, 0, Route.ALL, 0, address(0)));
        routes[0] = routes[0].step(step(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, Route.ALL, 3000, coinPair));
        swaps[1] = swapOrder(coin, 10e18, b);
        routes[1] = Route.start(coin, b).token(NATIVE).token(w);
        routes[1] = routes[1].step(step(Route.UNWRAP, 0, 2, 0, Route.ALL, 0, address(0)));
        routes[1] = routes[1].step(step(Route.WRAP, 2, 3, 0, Route.ALL, 0, address(0)));
        routes[1] = routes[1].step(step(Route.UNISWAP_V2, 3, 1, Route.TO_TARGET, Route.ALL, 3000, wrappedPair));
    }

    /// @dev D1: the coin is honest about what it wraps, and pushes the recipient's income while it does.
    function test_incomeDuringWrapAndUnwrapOfAnHonestCoinDoesNotCount() public {
        HookedWrapped hooked = new HookedWrapped();
        (SwapRouter.Swap[2] memory swaps, uint256[][2] memory routes) = hookedRoutes(hooked);
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 kind = 0; kind < KINDS_OF_INCOME; kind++) {
                uint256 start = vm.snapshotState();
                uint256 out = swap(swaps[i], routes[i]);
                vm.revertToState(start);

                (address payer, bytes memory call) = createIncome(kind);
                hooked.setStepHook(payer, call);
                uint256 snapshot = vm.snapshotState();
                assertEq(swap(swaps[i], routes[i]), out, "out");
                assertTrue(hooked.stepHookCalls() == 1 && !hooked.stepHookFailed(), "income was paid");
                assertEq(IERC20(b).balanceOf(recipient), out + INCOME, "received");
                assertNothingHeld();
                vm.revertToState(snapshot);
                SwapRouter.Swap memory s = swaps[i];
                s.minOut = out + 1;
                expectSwapRevert(s, routes[i], SwapRouter.TooLittle.selector);
                s.minOut = 1;
                vm.revertToState(start);
            }
        }
    }

    /// @dev D1: the same in the native coin, as the last step of a route.
    function test_nativeIncomeDuringTheLastUnwrapDoesNotCount() public {
        HookedWrapped hooked = new HookedWrapped();
        vm.deal(address(hooked), DEPTH);
        address debt = address(new Debt(recipient, NATIVE, INCOME));
        vm.deal(debt, INCOME);
        hooked.setStepHook(debt, abi.encodeCall(Debt.withdraw, ()));
        SwapRouter.Swap memory s = swapOrder(address(hooked), 10e18, NATIVE);
        uint256[] memory route = Route.one(address(hooked), NATIVE, step(Route.UNWRAP, 0, 1, 0, Route.ALL, 0, address(0)));
        uint256 snapshot = vm.snapshotState();
        assertEq(swap(s, route), 10e18, "out");
        assertEq(recipient.balance, 10e18 + INCOME, "received");
        vm.revertToState(snapshot);
        s.minOut = 10e18 + 1;
        expectSwapRevert(s, route, SwapRouter.TooLittle.selector);
    }

    function test_incomeDuringWrapAndUnwrapDoesNotCount() public {
        for (uint256 kind = 0; kind < KINDS_OF_INCOME; kind++) {
            (address payer, bytes memory call) = createIncome(kind);
            uint256[] memory wrap = Route.start(NATIVE, b).token(address(new DiversionWrapped(payer, call)));
            wrap = wrap.step(step(Route.WRAP, 0, 2, 0, Route.ALL, 0, address(0)));
            expectSwapRevert(swapOrder(NATIVE, 1e18, b), wrap, SwapRouter.TooLittle.selector);
        }
        address debt = address(new Debt(recipient, NATIVE, INCOME));
        vm.deal(debt, INCOME);
        address wrapped = address(new DiversionWrapped(debt, abi.encodeCall(Debt.withdraw, ())));
        uint256[] memory unwrap = Route.one(wrapped, NATIVE, step(Route.UNWRAP, 0, 1, 0, Route.ALL, 0, address(0)));
        expectSwapRevert(swapOrder(wrapped, 1e18, NATIVE), unwrap, SwapRouter.TooLittle.selector);
    }

    function test_incomeFromAThirdPartyRouterDoesNotCount() public {
        for (uint256 kind = 0; kind < KINDS_OF_INCOME; kind++) {
            (address payer, bytes memory call) = createIncome(kind);
            SwapRouter.Swap memory s = swapOrder(a, 1e18, b);
            s.executor = deployCode(publishedCode("external-executor"));
            uint256[] memory route = new uint256[](call.length > 32 ? 7 : 6);
            (route[0], route[1]) = (uint256(uint160(a)), uint256(uint160(b)));
            (route[2], route[3], route[4]) = (uint256(uint160(payer)), uint256(uint160(payer)), call.length);
            bytes memory padded = bytes.concat(call, new bytes(64));
            for (uint256 i = 5; i < route.length; i++) {
                uint256 element;
                assembly ("memory-safe") {
                    element := mload(add(padded, mul(sub(i, 4), 32)))
                }
                route[i] = element;
            }
            expectSwapRevert(s, route, SwapRouter.TooLittle.selector);
        }
    }

    /// @dev A token that moves nothing into the pool. Curve and Balancer pools trust the token: what they pay is their own loss.
    function test_aStepWithoutInputReverts() public {
        TestToken(a).setHook(a, abi.encodeCall(TestToken.setTransferFee, (1_000_000)));
        for (uint256 i = 0; i < poolKinds.length; i++) {
            uint256 kind = poolKinds[i].kind;
            uint256 start = vm.snapshotState();
            uint256[] memory route = withStep(Route.start(a, b), poolKinds[i]);
            // Nothing reaches the executor.
            expectSwapRevert(swapOrder(a, 10e18, b), route, SwapExecutor.NoInput.selector);
            // Nothing reaches the pool. The pools of the tests of Curve and Balancer move no real tokens.
            if (kind == Route.CURVE || kind == Route.BALANCER_V2) {
                vm.revertToState(start);
                continue;
            }
            TestToken(a).setHookDuring(poolKinds[i].pool, a, abi.encodeCall(TestToken.setTransferFee, (1_000_000)));
            bool isPair = kind == Route.UNISWAP_V2 || kind == Route.SOLIDLY;
            expectSwapRevert(swapOrder(a, 10e18, b), route, isPair ? SwapExecutor.NoInput.selector : bytes4(0));
            vm.revertToState(start);
        }
    }

    /// @dev Calls with which hostile code re-enters. They also test whether a route runs, so that a token could behave differently in
    ///   it: the native coin's transfer of nothing is refused during a route as outside of it.
    /// @dev Calls by `caller`. Its swap has funds, an allowance and an output, so that only the router's lock refuses it.
    function reentries(address caller) private returns (address[5] memory targets, bytes[5] memory calls) {
        uint256[] memory sweepRoute = new uint256[](2);
        (sweepRoute[0], sweepRoute[1]) = (1, uint256(uint160(a)));
        targets = [address(executor), address(executor), address(executor), address(router), address(router)];
        calls = [
            abi.encodeCall(SwapExecutor.executeSwapRoute, (sweepRoute, attacker, attacker)),
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), ""),
            bytes(""),
            abi.encodeCall(SwapRouter.swap, (mintingSwap(caller), sweepRoute)),
            bytes("")
        ];
    }

    function test_rejectsReentryDuringAnyStep() public {
        (address[5] memory targets, bytes[5] memory calls) = reentries(a);
        for (uint256 i = 0; i < poolKinds.length; i++) {
            uint256[] memory route = withStep(Route.start(a, b), poolKinds[i]);
            for (uint256 k = 0; k < calls.length; k++) {
                TestToken(a).setHookDuring(poolKinds[i].pool, targets[k], calls[k]);
                swap(swapOrder(a, 10e18, b), route);
                assertTrue(TestToken(a).hookFailed() && !TestToken(a).hookSucceeded(), "refused");
                assertNothingHeld();
            }
        }
    }

    /// @dev The coin calls through a relay, because the coin itself may pay the executor during its step.
    function test_rejectsReentryDuringWrapAndUnwrap() public {
        HookedWrapped hooked = new HookedWrapped();
        Relay relay = new Relay();
        (address[5] memory targets, bytes[5] memory calls) = reentries(address(relay));
        (SwapRouter.Swap[2] memory swaps, uint256[][2] memory routes) = hookedRoutes(hooked);
        for (uint256 i = 0; i < 2; i++) {
            for (uint256 k = 0; k < calls.length; k++) {
                hooked.setStepHook(address(relay), abi.encodeCall(Relay.relay, (targets[k], calls[k])));
                swap(swaps[i], routes[i]);
                assertTrue(hooked.stepHookCalls() == 1 && hooked.stepHookFailed(), "refused");
                assertNothingHeld();
            }
        }
    }

    /// @dev A token on the route leaves the manager with a synced currency; it must not refuse the native coin (D10).
    function test_foreignSyncDoesNotBlockANativeUniswapV4Step() public {
        TestToken(a).setHook(manager, abi.encodeWithSignature("sync(address)", a));
        uint256[] memory route = Route.start(b, a).token(w).token(NATIVE);
        route = route.step(step(Route.UNISWAP_V2, 0, 1, Route.TO_EXECUTOR, Route.ALL, 3000, v2ab));
        route = route.step(step(Route.UNISWAP_V2, 1, 2, Route.TO_EXECUTOR, Route.ALL, 3000, v2aw));
        route = route.step(step(Route.UNWRAP, 2, 3, 0, Route.ALL, 0, address(0)));
        route = route.step(step(Route.UNISWAP_V4, 3, 1, Route.TO_TARGET, Route.ALL, 3000 << 16 | 60, manager));
        assertTrue(swap(swapOrder(b, 1e18, a), route) > 0, "out");
        assertTrue(!TestToken(a).hookFailed(), "synced");
    }
}
