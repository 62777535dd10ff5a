// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";

contract RefusesCoins {
    receive() external payable {
        revert("no");
    }
}

contract PassesCoinsOn {
    address payable private immutable to;

    constructor(address payable to_) {
        to = to_;
    }

    receive() external payable {
        (bool paid,) = to.call{value: msg.value}("");
        require(paid);
    }
}

contract RouterTest is Market {
    using Route for uint256[];

    function v2(uint256 flags, uint256 share) private view returns (uint256[] memory) {
        return Route.one(a, b, leg(Route.UNISWAP_V2, 0, 1, flags, share, 3000, v2ab));
    }

    function simple() private view returns (uint256[] memory) {
        return v2(Route.TO_TARGET, Route.ALL);
    }

    function test_splitOverTwoHops() public {
        uint256[] memory route = Route.start(a, c).token(b);
        route = route.leg(leg(Route.UNISWAP_V2, 0, 2, Route.HERE, uint256(3) << 22, 3000, v2ab));
        route = route.leg(leg(Route.UNISWAP_V3, 0, 2, Route.HERE, Route.ALL, 0, v3ab));
        route = route.leg(leg(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, 1 << 23, 3000, v2bc));
        route = route.leg(leg(Route.UNISWAP_V3, 2, 1, Route.TO_TARGET, Route.ALL, 0, v3bc));
        uint256 out = swap(order(a, 5000e18, c), route);
        same("received", IERC20(c).balanceOf(recipient), out);
        nothingStays();
    }

    function test_poolsThatPayEachOther() public {
        uint256[] memory kept = Route.start(a, c).token(b);
        uint256[] memory passed = kept;
        kept = kept.leg(leg(Route.UNISWAP_V2, 0, 2, Route.HERE, Route.ALL, 3000, v2ab));
        kept = kept.leg(leg(Route.UNISWAP_V2, 2, 1, Route.HERE, Route.ALL, 3000, v2bc));
        passed = passed.leg(leg(Route.UNISWAP_V2, 0, 2, Route.TO_NEXT_POOL, Route.ALL, 3000, v2ab));
        passed = passed.leg(leg(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET | Route.PREPAID, Route.ALL, 3000, v2bc));
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(order(a, 5000e18, c), kept);
        vm.revertToState(snapshot);
        same("out", swap(order(a, 5000e18, c), passed), out);
        nothingStays();
    }

    function test_coinInAndOut() public {
        uint256[] memory route = Route.start(NATIVE, a).token(w);
        route = route.leg(leg(Route.WRAP, 0, 2, 0, Route.ALL, 0, address(0)));
        route = route.leg(leg(Route.UNISWAP_V3, 2, 1, Route.TO_TARGET, Route.ALL, 0, v3aw));
        uint256 got = swap(order(NATIVE, 10e18, a), route);
        same("token received", IERC20(a).balanceOf(recipient), got);
        same("coins left", user.balance, 0);

        route = Route.start(a, NATIVE).token(w);
        route = route.leg(leg(Route.UNISWAP_V2, 0, 2, Route.HERE, 1 << 23, 3000, v2aw));
        route = route.leg(leg(Route.UNISWAP_V4, 0, 1, Route.TO_TARGET, Route.ALL, 3000 << 16 | 60, manager));
        route = route.leg(leg(Route.UNWRAP, 2, 1, 0, Route.ALL, 0, address(0)));
        uint256 paid = swap(order(a, 10e18, NATIVE), route);
        same("coins received", recipient.balance, paid);
        nothingStays();

        uint256 less = swap(withFee(order(a, 10e18, NATIVE), 50_000), route);
        same("with fee", recipient.balance, paid + less);
        same("fee", partner.balance, (less + partner.balance) * 50_000 / 1e6);
        nothingStays();
    }

    function test_coinForAContractThatPassesItOn() public {
        address recipient_ = address(new PassesCoinsOn(payable(recipient)));
        SwapRouter.Swap memory s = order(w, 1e18, NATIVE);
        s.recipient = recipient_;
        s.minOut = 1e18;
        same("out", swap(s, Route.one(w, NATIVE, leg(Route.UNWRAP, 0, 1, 0, Route.ALL, 0, address(0)))), 1e18);
        same("received", recipient.balance, 1e18);
    }

    function test_recipientRefusesTheCoin() public {
        SwapRouter.Swap memory s = order(w, 1e18, NATIVE);
        s.recipient = address(new RefusesCoins());
        uint256[] memory route = Route.one(w, NATIVE, leg(Route.UNWRAP, 0, 1, 0, Route.ALL, 0, address(0)));
        failSwap(s, route, Transfers.CoinRefused.selector);
        s = withFee(order(w, 1e18, NATIVE), 1000);
        s.feeTo = address(new RefusesCoins());
        failSwap(s, route, Transfers.CoinRefused.selector);
    }

    function test_leftoversGoBack() public {
        swap(order(a, 1000e18, b), v2(Route.TO_TARGET, 1 << 23));
        same("half is back", IERC20(a).balanceOf(user), 500e18);
        nothingStays();

        // An output that no step takes.
        uint256[] memory route = Route.start(a, c).token(b);
        route = route.leg(leg(Route.UNISWAP_V2, 0, 2, Route.HERE, Route.ALL, 3000, v2ab));
        route = route.leg(leg(Route.UNISWAP_V2, 2, 1, Route.HERE, 1 << 22, 3000, v2bc));
        swap(order(a, 1000e18, c), route);
        yes("other token is back", IERC20(b).balanceOf(user) > 0);
        nothingStays();

        // Coins that no step takes.
        vm.deal(user, 0);
        route = Route.start(NATIVE, a).token(w);
        route = route.leg(leg(Route.WRAP, 0, 2, 0, 1 << 23, 0, address(0)));
        route = route.leg(leg(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, Route.ALL, 3000, v2aw));
        swap(order(NATIVE, 10e18, a), route);
        same("coins are back", user.balance, 5e18);
        nothingStays();
    }

    function test_whatWasDonatedHelpsTheNext() public {
        give(a, address(executor), 3);
        give(b, address(router), 5);
        uint256 got = swap(withFee(order(a, 100e18, b), 1), simple());
        same("all of it", IERC20(b).balanceOf(recipient), got);
        nothingStays();
    }

    function test_minimumIsOfWhatIsReceived() public {
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(withFee(order(a, 100e18, b), 50_000), simple());
        vm.revertToState(snapshot);
        SwapRouter.Swap memory s = withFee(order(a, 100e18, b), 50_000);
        s.minOut = out + 1;
        failSwap(s, simple(), SwapRouter.TooLittle.selector);
        s.minOut = out;
        same("out", swap(s, simple()), out);
    }

    function test_poolThatMovedInBetween() public {
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(order(a, 100e18, b), simple());
        vm.revertToState(snapshot);
        swap(order(a, 20_000e18, b), simple());
        SwapRouter.Swap memory s = order(a, 100e18, b);
        s.minOut = out * 995 / 1000;
        failSwap(s, simple(), SwapRouter.TooLittle.selector);
    }

    function test_refusesBadOrders() public {
        SwapRouter.Swap memory s = order(a, 1e18, b);
        vm.warp(1_000_000);
        s.deadline = 999_999;
        failSwap(s, simple(), SwapRouter.Expired.selector);
        bytes4 bad = SwapRouter.BadSwap.selector;
        s = order(a, 1e18, b);
        s.minOut = 0;
        failSwap(s, simple(), bad);
        failSwap(order(a, 0, b), simple(), bad);
        failSwap(order(a, 1e18, a), simple(), bad);
        address[3] memory recipients = [address(0), address(router), address(executor)];
        for (uint256 i = 0; i < 3; i++) {
            s = order(a, 1e18, b);
            s.recipient = recipients[i];
            failSwap(s, simple(), bad);
        }
        s = order(a, 1e18, b);
        s.executor = address(router);
        failSwap(s, simple(), bad);
        failSwap(withFee(order(a, 1e18, b), 50_001), simple(), SwapRouter.FeeTooHigh.selector);
        s = withFee(order(a, 1e18, b), 1);
        s.feeTo = address(0);
        failSwap(s, simple(), bad);
        s.feeTo = address(router);
        failSwap(s, simple(), bad);
    }

    function test_refusesCoinsThatWereNotOrdered() public {
        SwapRouter.Swap memory s = order(a, 1e18, b);
        vm.deal(user, 2e18);
        vm.startPrank(user);
        vm.expectPartialRevert(SwapRouter.BadValue.selector);
        router.swap{value: 1}(s, simple());
        s = order(NATIVE, 1e18, b);
        vm.expectPartialRevert(SwapRouter.BadValue.selector);
        router.swap{value: 1e18 - 1}(s, simple());
        vm.expectPartialRevert(SwapRouter.BadValue.selector);
        router.swap{value: 1e18 + 1}(s, simple());
        (bool taken,) = address(router).call{value: 1}("");
        yes("the router takes no coins", !taken);
        (taken,) = address(executor).call{value: 1}("");
        yes("the executor takes no coins", !taken);
        vm.stopPrank();
    }

    function test_emptyAndBrokenRoutes() public {
        uint256[] memory none = new uint256[](0);
        failSwap(order(a, 1e18, b), none, 0);
        failSwap(order(a, 1e18, b), Route.start(a, b), SwapRouter.TooLittle.selector);
        uint256[] memory route = simple();
        route[0] = 1;
        failSwap(order(a, 1e18, b), route, SwapExecutor.BadStep.selector);
        route[0] = type(uint256).max;
        failSwap(order(a, 1e18, b), route, 0);
        route = Route.one(a, b, leg(10, 0, 1, 0, Route.ALL, 0, v2ab));
        failSwap(order(a, 1e18, b), route, SwapExecutor.BadStep.selector);
        route = Route.one(a, b, leg(Route.UNISWAP_V3, 0, 1, Route.PREPAID, Route.ALL, 0, v3ab));
        failSwap(order(a, 1e18, b), route, SwapExecutor.BadStep.selector);
        // A fee of more than all.
        failSwap(order(a, 1e18, b), Route.one(a, b, leg(Route.UNISWAP_V2, 0, 1, 0, Route.ALL, 1_000_001, v2ab)), 0);
    }

    function test_poolThatCannotTakeAll() public {
        uint256[] memory route = Route.one(a, b, leg(Route.UNISWAP_V3, 0, 1, Route.TO_TARGET, Route.ALL, 0, v3ab));
        failSwap(order(a, 1e25, b), route, SwapExecutor.PartlyFilled.selector);
        route = Route.one(a, b, kinds[3]);
        failSwap(order(a, 1e25, b), route, SwapExecutor.PartlyFilled.selector);
    }

    function test_log() public {
        SwapRouter.Swap memory s = withFee(order(a, 100e18, b), 10_000);
        s.ref = keccak256("a reference");
        uint256 snapshot = vm.snapshotState();
        uint256 out = swap(s, simple());
        uint256 fee = IERC20(b).balanceOf(partner);
        vm.revertToState(snapshot);
        prepare(s);
        vm.expectEmit();
        emit SwapRouter.Swapped(s.ref, user, recipient, a, b, 100e18, out, fee);
        vm.prank(user);
        router.swap(s, simple());
    }
}
