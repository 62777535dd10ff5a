// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";
import {CallingExecutor, Permit2Like, TrickPool} from "./pools/MaliciousPool.sol";

/// @dev docs/threat-model.md names each of these.
contract HostileTest is Market {
    using Route for uint256[];

    address private victim = address(0x71C7);
    address private attacker = address(0xBAD);
    TrickPool private trick;

    function setUp() public override {
        super.setUp();
        trick = new TrickPool(a, b, attacker);
        address[3] memory tokens = [a, b, w];
        // The victim is as careless as can be: unlimited, for ever.
        for (uint256 i = 0; i < 3; i++) {
            give(tokens[i], victim, 1000e18);
            vm.prank(victim);
            IERC20(tokens[i]).approve(address(router), type(uint256).max);
        }
    }

    function victimIsWhole() private view {
        address[3] memory tokens = [a, b, w];
        for (uint256 i = 0; i < 3; i++) {
            same("victim's balance", IERC20(tokens[i]).balanceOf(victim), 1000e18);
            same("victim's allowance", IERC20(tokens[i]).allowance(victim, address(router)), type(uint256).max);
            same("attacker's loot", IERC20(tokens[i]).balanceOf(attacker), 0);
        }
    }

    function trickRoute(uint256 kind) private view returns (uint256[] memory) {
        return withLeg(Route.start(a, b), leg(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, address(trick)));
    }

    /// @dev Calls `router.swap` as the attacker, whatever comes of it.
    function attack(SwapRouter.Swap memory s, uint256[] memory route) private returns (bool done) {
        s.recipient = address(0xACCE);
        vm.prank(attacker);
        (done,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
    }

    // Sushi RouteProcessor2, 2023: a pool of the attacker's asks in its callback for the tokens of someone who approved.

    function test_poolThatAsksForSomeoneElsesTokens() public {
        TrickPool.Trick[6] memory tricks = [
            TrickPool.Trick.AskMore,
            TrickPool.Trick.AskOther,
            TrickPool.Trick.AskTwice,
            TrickPool.Trick.AskThroughAnother,
            TrickPool.Trick.AskNothing,
            TrickPool.Trick.Unlock
        ];
        for (uint256 i = 0; i < tricks.length; i++) {
            trick.set(tricks[i], victim, executor, router);
            uint256 before = IERC20(a).balanceOf(address(trick));
            failSwap(order(a, 10e18, b), trickRoute(Route.UNISWAP_V3), 0);
            failSwap(order(a, 10e18, b), trickRoute(Route.UNISWAP_V4), 0);
            same("the pool got nothing", IERC20(a).balanceOf(address(trick)), before);
            victimIsWhole();
            nothingStays();
        }
    }

    /// @dev The second hop's pool can't ask for what waits for the third.
    function test_poolThatAsksForWhatLiesInBetween() public {
        uint256[] memory route = Route.start(a, b).token(w);
        route = route.leg(leg(Route.UNISWAP_V2, 0, 2, Route.HERE, 1 << 23, 3000, v2aw));
        route = route.leg(leg(Route.UNISWAP_V3, 0, 1, Route.TO_TARGET, 1 << 23, 0, address(trick)));
        route = route.leg(leg(Route.UNISWAP_V2, 0, 1, Route.TO_TARGET, Route.ALL, 3000, v2ab));
        trick.set(TrickPool.Trick.AskMore, victim, executor, router);
        failSwap(order(a, 10e18, b), route, SwapExecutor.PartlyFilled.selector);
        trick.set(TrickPool.Trick.AskTwice, victim, executor, router);
        failSwap(order(a, 10e18, b), route, SwapExecutor.UnexpectedCall.selector);
    }

    function test_poolThatReentersToSweep() public {
        for (uint256 kind = Route.UNISWAP_V2; kind <= Route.LIQUIDITY_BOOK; kind++) {
            trick.set(TrickPool.Trick.Reenter, victim, executor, router);
            give(a, address(trick), 1);
            uint256[] memory route = Route.start(a, b).token(w);
            // With a fee: this waits in the router, the next in the executor.
            route = route.leg(leg(Route.UNISWAP_V2, 0, 1, Route.TO_TARGET, 1 << 22, 3000, v2ab));
            route = route.leg(leg(Route.UNISWAP_V2, 0, 2, Route.HERE, 1 << 23, 3000, v2aw));
            route = withLeg(route, leg(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, address(trick)));
            route = route.leg(leg(Route.UNISWAP_V2, 2, 0, Route.HERE, Route.ALL, 3000, v2aw));
            route = route.leg(leg(Route.UNISWAP_V2, 0, 1, Route.TO_TARGET, Route.ALL, 3000, v2ab));
            swapOrFail(withFee(order(a, 10e18, b), 1000), route);
            same("came through", trick.succeeded(), 0);
            victimIsWhole();
            nothingStays();
        }
        // All but those that must be called back.
        same("times that a swap outlived it", trick.tried(), 5);
    }

    function swapOrFail(SwapRouter.Swap memory s, uint256[] memory route) private {
        prepare(s);
        vm.prank(user);
        (bool done,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
        done;
    }

    function test_callbacksOutsideOfARoute() public {
        give(a, address(executor), 5e18);
        bytes[4] memory calls = [
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), ""),
            abi.encodeWithSignature("pancakeV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), ""),
            abi.encodeCall(SwapExecutor.unlockCallback, (abi.encode(b, uint256(0), attacker))),
            abi.encodeWithSignature("anything()")
        ];
        for (uint256 i = 0; i < 4; i++) {
            vm.prank(attacker);
            vm.expectPartialRevert(SwapExecutor.UnexpectedCall.selector);
            (bool done,) = address(executor).call(calls[i]);
            done;
        }
    }

    // LI.FI 2022 and 2024, Socket, Dexible, Transit, SwapNet: a free call by the contract that is approved.

    function test_executorCalledByAnAttackerFindsNothing() public {
        address[4] memory pools = [victim, a, address(router), address(trick)];
        for (uint256 kind = 1; kind <= 9; kind++) {
            for (uint256 i = 0; i < 4; i++) {
                uint256[] memory route =
                    withLeg(Route.start(a, b), leg(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, pools[i]));
                vm.prank(attacker);
                (bool done,) =
                    address(executor).call(abi.encodeCall(SwapExecutor.executeSwapRoute, (route, attacker, attacker)));
                done;
                victimIsWhole();
            }
        }
        nothingStays();
    }

    function test_forbiddenTargetsAsPools() public {
        Permit2Like permit2 = new Permit2Like();
        vm.prank(victim);
        IERC20(a).approve(address(permit2), type(uint256).max);
        permit2.allow(victim, a, address(router));
        address[7] memory targets =
            [address(router), address(executor), address(permit2), a, w, victim, address(0x2)];
        for (uint256 kind = 1; kind <= 9; kind++) {
            for (uint256 i = 0; i < targets.length; i++) {
                give(a, attacker, 1e18);
                vm.prank(attacker);
                IERC20(a).approve(address(router), 1e18);
                uint256[] memory route =
                    withLeg(Route.start(a, b), leg(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, targets[i]));
                yes("nothing is swapped", !attack(order(a, 1e18, b), route));
                vm.prank(attacker);
                IERC20(a).transfer(address(this), 1e18);
                victimIsWhole();
                nothingStays();
            }
        }
    }

    function test_hostileExecutors() public {
        CallingExecutor hostile = new CallingExecutor(victim, attacker, a, b, router);
        address[6] memory executors = [address(hostile), a, w, address(0x2), attacker, address(0)];
        for (uint256 i = 0; i < executors.length; i++) {
            for (uint256 n = 0; n < hostile.TRICKS(); n++) {
                hostile.set(n);
                give(a, attacker, 1e18);
                vm.prank(attacker);
                IERC20(a).approve(address(router), 1e18);
                SwapRouter.Swap memory s = order(a, 1e18, b);
                s.executor = executors[i];
                yes("nothing is swapped", !attack(s, Route.start(a, b)));
                vm.prank(attacker);
                IERC20(a).transfer(address(this), 1e18);
                victimIsWhole();
                nothingStays();
            }
        }
    }

    /// @dev What router and executor call, and nothing else, has these selectors: none of them spends or permits.
    function test_selectorsAreNotThoseOfTokens() public pure {
        bytes4[9] memory ours = [
            SwapExecutor.executeSwapRoute.selector,
            bytes4(keccak256("swap(uint256,uint256,address,bytes)")),
            bytes4(keccak256("swap(address,bool,int256,uint160,bytes)")),
            bytes4(keccak256("unlock(bytes)")),
            bytes4(keccak256("getReserves()")),
            bytes4(keccak256("exchange(int128,int128,uint256,uint256)")),
            bytes4(keccak256("exchange(uint256,uint256,uint256,uint256)")),
            bytes4(keccak256("swap((bytes32,uint8,address,address,uint256,bytes),(address,bool,address,bool),uint256,uint256)")),
            bytes4(keccak256("swap(bool,address)"))
        ];
        bytes4[16] memory spending = [
            IERC20.transfer.selector,
            IERC20.transferFrom.selector,
            IERC20.approve.selector,
            bytes4(keccak256("permit(address,address,uint256,uint256,uint8,bytes32,bytes32)")),
            bytes4(keccak256("increaseAllowance(address,uint256)")),
            bytes4(keccak256("decreaseAllowance(address,uint256)")),
            bytes4(keccak256("safeTransferFrom(address,address,uint256)")),
            bytes4(keccak256("safeTransferFrom(address,address,uint256,uint256,bytes)")),
            bytes4(keccak256("send(address,uint256,bytes)")),
            bytes4(keccak256("operatorSend(address,address,uint256,bytes,bytes)")),
            bytes4(keccak256("authorizeOperator(address)")),
            bytes4(keccak256("transferFrom(address,address,uint160,address)")),
            bytes4(keccak256("approve(address,address,uint160,uint48)")),
            bytes4(keccak256("transferAndCall(address,uint256,bytes)")),
            bytes4(keccak256("burnFrom(address,uint256)")),
            bytes4(keccak256("setApprovalForAll(address,bool)"))
        ];
        for (uint256 i = 0; i < ours.length; i++) {
            yes("router", ours[i] != SwapRouter.swap.selector);
            for (uint256 j = 0; j < spending.length; j++) yes("token", ours[i] != spending[j]);
        }
    }

    // Rights that outlive their use.

    function test_allowanceThatAPoolDoesNotUseIsTakenBack() public {
        trick.set(TrickPool.Trick.LeaveAllowance, victim, executor, router);
        uint256[2] memory two = [Route.CURVE, Route.BALANCER_V2];
        for (uint256 i = 0; i < 2; i++) {
            uint256[] memory route =
                withLeg(Route.start(a, b), leg(two[i], 0, 1, Route.HERE, Route.ALL, 0, address(trick)));
            swap(order(a, 10e18, b), route);
            same("allowance", IERC20(a).allowance(address(executor), address(trick)), 0);
            same("unused input is back", IERC20(a).balanceOf(user), 10e18 * (i + 1));
            nothingStays();
        }
    }

    function test_attackerWithHisOwnPoolGetsNoAllowance() public {
        trick.set(TrickPool.Trick.LeaveAllowance, victim, executor, router);
        give(a, attacker, 1e18);
        vm.startPrank(attacker);
        IERC20(a).transfer(address(executor), 1e18);
        executor.executeSwapRoute(trickRoute(Route.CURVE), attacker, address(this));
        vm.stopPrank();
        same("allowance", IERC20(a).allowance(address(executor), address(trick)), 0);
        nothingStays();
    }

    function test_nobodyOwnsAnything() public {
        string[6] memory doors = ["owner()", "pause()", "upgradeTo(address)", "rescue(address)", "sweep(address)", "initialize()"];
        for (uint256 i = 0; i < doors.length; i++) {
            (bool router_,) = address(router).call(abi.encodeWithSignature(doors[i]));
            (bool executor_,) = address(executor).call(abi.encodeWithSignature(doors[i]));
            yes("no such door", !router_ && !executor_);
        }
    }
}
