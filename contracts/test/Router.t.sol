// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";

contract RejectsNative {
    receive() external payable {
        revert("no");
    }
}

contract ForwardsNative {
    address payable private immutable to;

    constructor(address payable to_) {
        to = to_;
    }

    receive() external payable {
        (bool received,) = to.call{value: msg.value}("");
        require(received);
    }
}

contract RouterTest is Market {
    using Route for uint256[];

    function v2Route(uint256 flags, uint256 share) private view returns (uint256[] memory) {
        return Route.one(a, b, step(Route.UNISWAP_V2, 0, 1, flags, share, 3000, v2ab));
    }

    function simpleRoute() private view returns (uint256[] memory) {
        return v2Route(Route.TO_TARGET, Route.ALL);
    }

    function test_splitsOverTwoHops() public {
        uint256[] memory route = Route.start(a, c).token(b);
        route = route.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_EXECUTOR, uint256(3) << 22, 3000, v2ab));
        route = route.step(step(Route.UNISWAP_V3, 0, 2, Route.TO_EXECUTOR, Route.ALL, 0, v3ab));
        route = route.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, 1 << 23, 3000, v2bc));
        route = route.step(step(Route.UNISWAP_V3, 2, 1, Route.TO_TARGET, Route.ALL, 0, v3bc));
        uint256 out = swap(swapOrder(a, 5000e18, c), route);
        assertEq(IERC20(c).balanceOf(recipient), out, "received");
        assertNothingHeld();
    }

    function test_poolsPayTheNextPoolDirectly() public {
        uint256[] memory throughExecutor = Route.start(a, c).token(b);
        uint256[] memory poolToPool = throughExecutor;
        throughExecutor = throughExecutor.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_EXECUTOR, Route.ALL, 3000, v2ab));
        throughExecutor = throughExecutor.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_EXECUTOR, Route.ALL, 3000, v2bc));
        poolToPool = poolToPool.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_NEXT_POOL, Route.ALL, 3000, v2ab));
        poolToPool = poolToPool.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET | Route.PREPAID, Route.ALL, 3000, v2bc));
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(swapOrder(a, 5000e18, c), throughExecutor);
        vm.revertToState(snapshot);
        assertEq(swap(swapOrder(a, 5000e18, c), poolToPool), out, "out");
        assertNothingHeld();
    }

    function test_nativeInputAndOutput() public {
        uint256[] memory route = Route.start(NATIVE, a).token(w);
        route = route.step(step(Route.WRAP, 0, 2, 0, Route.ALL, 0, address(0)));
        route = route.step(step(Route.UNISWAP_V3, 2, 1, Route.TO_TARGET, Route.ALL, 0, v3aw));
        uint256 tokenOut = swap(swapOrder(NATIVE, 10e18, a), route);
        assertEq(IERC20(a).balanceOf(recipient), tokenOut, "token received");
        assertEq(user.balance, 0, "remaining native balance");

        route = Route.start(a, NATIVE).token(w);
        route = route.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_EXECUTOR, 1 << 23, 3000, v2aw));
        route = route.step(step(Route.UNISWAP_V4, 0, 1, Route.TO_TARGET, Route.ALL, 3000 << 16 | 60, manager));
        route = route.step(step(Route.UNWRAP, 2, 1, 0, Route.ALL, 0, address(0)));
        uint256 nativeOut = swap(swapOrder(a, 10e18, NATIVE), route);
        assertEq(recipient.balance, nativeOut, "native received");
        assertNothingHeld();

        uint256 outAfterFee = swap(withFee(swapOrder(a, 10e18, NATIVE), 50_000), route);
        assertEq(recipient.balance, nativeOut + outAfterFee, "with fee");
        assertEq(partner.balance, (outAfterFee + partner.balance) * 50_000 / 1e6, "fee");
        assertNothingHeld();
    }

    function test_paysNativeToAContractThatForwardsIt() public {
        address forwarder = address(new ForwardsNative(payable(recipient)));
        SwapRouter.Swap memory s = swapOrder(w, 1e18, NATIVE);
        s.recipient = forwarder;
        s.minOut = 1e18;
        assertEq(swap(s, Route.one(w, NATIVE, step(Route.UNWRAP, 0, 1, 0, Route.ALL, 0, address(0)))), 1e18, "out");
        assertEq(recipient.balance, 1e18, "received");
    }

    function test_revertsIfARecipientRejectsNative() public {
        SwapRouter.Swap memory s = swapOrder(w, 1e18, NATIVE);
        s.recipient = address(new RejectsNative());
        uint256[] memory route = Route.one(w, NATIVE, step(Route.UNWRAP, 0, 1, 0, Route.ALL, 0, address(0)));
        expectSwapRevert(s, route, Transfers.CoinRefused.selector);
        s = withFee(swapOrder(w, 1e18, NATIVE), 1000);
        s.feeTo = address(new RejectsNative());
        expectSwapRevert(s, route, Transfers.CoinRefused.selector);
    }

    function test_refundsUnspentAmounts() public {
        swap(swapOrder(a, 1000e18, b), v2Route(Route.TO_TARGET, 1 << 23));
        assertEq(IERC20(a).balanceOf(user), 500e18, "refunded half");
        assertNothingHeld();

        // An intermediate token that no step spends completely.
        uint256[] memory route = Route.start(a, c).token(b);
        route = route.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_EXECUTOR, Route.ALL, 3000, v2ab));
        route = route.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_EXECUTOR, 1 << 22, 3000, v2bc));
        swap(swapOrder(a, 1000e18, c), route);
        assertTrue(IERC20(b).balanceOf(user) > 0, "refunded intermediate token");
        assertNothingHeld();

        // Native coin that no step spends.
        vm.deal(user, 0);
        route = Route.start(NATIVE, a).token(w);
        route = route.step(step(Route.WRAP, 0, 2, 0, 1 << 23, 0, address(0)));
        route = route.step(step(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, Route.ALL, 3000, v2aw));
        swap(swapOrder(NATIVE, 10e18, a), route);
        assertEq(user.balance, 5e18, "refunded native");
        assertNothingHeld();
    }

    function test_addsDonatedBalanceToTheNextSwap() public {
        mintTo(a, address(executor), 3);
        mintTo(b, address(router), 5);
        uint256 received = swap(withFee(swapOrder(a, 100e18, b), 1), simpleRoute());
        assertEq(IERC20(b).balanceOf(recipient), received, "received");
        assertNothingHeld();
    }

    /// @dev Anyone can force native coin into a contract. A caller that refuses it can swap nevertheless (D10).
    function test_forcedNativeCoinDoesNotBlockACallerThatRefusesIt() public {
        vm.etch(user, address(new RejectsNative()).code);
        vm.deal(address(executor), 1);
        assertTrue(swap(swapOrder(a, 1e18, b), simpleRoute()) > 0, "out");
        assertEq(address(executor).balance, 1, "forced coin stays");

        // The route trades half of an intermediate native coin; the rest stays because the caller refuses it.
        uint256[] memory route = Route.start(w, a).token(NATIVE);
        route = route.step(step(Route.UNWRAP, 0, 2, 0, Route.ALL, 0, address(0)));
        route = route.step(step(Route.UNISWAP_V4, 2, 1, Route.TO_TARGET, 1 << 23, 3000 << 16 | 60, manager));
        swap(swapOrder(w, 1e18, a), route);
        assertTrue(address(executor).balance > 0, "rest stays");

        // Unspent input is never left behind.
        route = Route.one(NATIVE, a, step(Route.UNISWAP_V4, 0, 1, Route.TO_TARGET, 1 << 23, 3000 << 16 | 60, manager));
        expectSwapRevert(swapOrder(NATIVE, 1e18, a), route, Transfers.CoinRefused.selector);
    }

    function test_enforcesTheMinimumAfterTheFee() public {
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(withFee(swapOrder(a, 100e18, b), 50_000), simpleRoute());
        vm.revertToState(snapshot);
        SwapRouter.Swap memory s = withFee(swapOrder(a, 100e18, b), 50_000);
        s.minOut = out + 1;
        expectSwapRevert(s, simpleRoute(), SwapRouter.TooLittle.selector);
        s.minOut = out;
        assertEq(swap(s, simpleRoute()), out, "out");
    }

    function test_revertsIfThePriceMovedBelowTheMinimum() public {
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(swapOrder(a, 100e18, b), simpleRoute());
        vm.revertToState(snapshot);
        swap(swapOrder(a, 20_000e18, b), simpleRoute());
        SwapRouter.Swap memory s = swapOrder(a, 100e18, b);
        s.minOut = out * 995 / 1000;
        expectSwapRevert(s, simpleRoute(), SwapRouter.TooLittle.selector);
    }

    function test_rejectsInvalidSwaps() public {
        SwapRouter.Swap memory s = swapOrder(a, 1e18, b);
        vm.warp(1_000_000);
        s.deadline = 999_999;
        expectSwapRevert(s, simpleRoute(), SwapRouter.Expired.selector);
        bytes4 badSwap = SwapRouter.BadSwap.selector;
        s = swapOrder(a, 1e18, b);
        s.minOut = 0;
        expectSwapRevert(s, simpleRoute(), badSwap);
        expectSwapRevert(swapOrder(a, 0, b), simpleRoute(), badSwap);
        expectSwapRevert(swapOrder(a, 1e18, a), simpleRoute(), badSwap);
        address[3] memory recipients = [address(0), address(router), address(executor)];
        for (uint256 i = 0; i < 3; i++) {
            s = swapOrder(a, 1e18, b);
            s.recipient = recipients[i];
            expectSwapRevert(s, simpleRoute(), badSwap);
        }
        s = swapOrder(a, 1e18, b);
        s.executor = address(router);
        expectSwapRevert(s, simpleRoute(), badSwap);
        expectSwapRevert(withFee(swapOrder(a, 1e18, b), 50_001), simpleRoute(), SwapRouter.FeeTooHigh.selector);
        s = withFee(swapOrder(a, 1e18, b), 1);
        s.feeTo = address(0);
        expectSwapRevert(s, simpleRoute(), badSwap);
        s.feeTo = address(router);
        expectSwapRevert(s, simpleRoute(), badSwap);
    }

    function test_rejectsUnexpectedNativeValue() public {
        SwapRouter.Swap memory s = swapOrder(a, 1e18, b);
        vm.deal(user, 2e18);
        vm.startPrank(user);
        vm.expectPartialRevert(SwapRouter.BadValue.selector);
        router.swap{value: 1}(s, simpleRoute());
        s = swapOrder(NATIVE, 1e18, b);
        vm.expectPartialRevert(SwapRouter.BadValue.selector);
        router.swap{value: 1e18 - 1}(s, simpleRoute());
        vm.expectPartialRevert(SwapRouter.BadValue.selector);
        router.swap{value: 1e18 + 1}(s, simpleRoute());
        (bool success,) = address(router).call{value: 1}("");
        assertTrue(!success, "router rejects native");
        (success,) = address(executor).call{value: 1}("");
        assertTrue(!success, "executor rejects native");
        vm.stopPrank();
    }

    function test_rejectsInvalidRoutes() public {
        uint256[] memory emptyRoute = new uint256[](0);
        expectSwapRevert(swapOrder(a, 1e18, b), emptyRoute, 0);
        expectSwapRevert(swapOrder(a, 1e18, b), Route.start(a, b), SwapRouter.TooLittle.selector);
        uint256[] memory route = simpleRoute();
        // The second token is read as a step that has no input.
        route[0] = 1;
        expectSwapRevert(swapOrder(a, 1e18, b), route, SwapExecutor.NoInput.selector);
        route[0] = type(uint256).max;
        expectSwapRevert(swapOrder(a, 1e18, b), route, 0);
        route = Route.one(a, b, step(10, 0, 1, 0, Route.ALL, 0, v2ab));
        expectSwapRevert(swapOrder(a, 1e18, b), route, SwapExecutor.BadStep.selector);
        route = Route.one(a, b, step(Route.UNISWAP_V3, 0, 1, Route.PREPAID, Route.ALL, 0, v3ab));
        expectSwapRevert(swapOrder(a, 1e18, b), route, SwapExecutor.BadStep.selector);
        // A pool fee above 100 %.
        expectSwapRevert(swapOrder(a, 1e18, b), Route.one(a, b, step(Route.UNISWAP_V2, 0, 1, 0, Route.ALL, 1_000_001, v2ab)), 0);
    }

    function test_rejectsPartialFills() public {
        uint256[] memory route = Route.one(a, b, step(Route.UNISWAP_V3, 0, 1, Route.TO_TARGET, Route.ALL, 0, v3ab));
        expectSwapRevert(swapOrder(a, 1e25, b), route, SwapExecutor.PartlyFilled.selector);
        route = Route.one(a, b, poolKinds[3]);
        expectSwapRevert(swapOrder(a, 1e25, b), route, SwapExecutor.PartlyFilled.selector);
    }

    function test_emitsSwapped() public {
        SwapRouter.Swap memory s = withFee(swapOrder(a, 100e18, b), 10_000);
        s.ref = keccak256("a reference");
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(s, simpleRoute());
        uint256 fee = IERC20(b).balanceOf(partner);
        vm.revertToState(snapshot);
        fundAndApprove(s);
        vm.expectEmit();
        emit SwapRouter.Swapped(s.ref, user, partner, recipient, address(executor), a, b, 100e18, out, fee);
        vm.prank(user);
        router.swap(s, simpleRoute());
    }
}
