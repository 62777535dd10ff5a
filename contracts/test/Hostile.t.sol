// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";
import {MaliciousExecutor, Permit2Like, MaliciousPool} from "./pools/MaliciousPool.sol";

/// @dev Attacks of malicious pools, executors and callers. docs/threat-model.md describes each attack.
contract HostileTest is Market {
    using Route for uint256[];

    address private victim = address(0x71C7);
    address private attacker = address(0xBAD);
    MaliciousPool private maliciousPool;

    function setUp() public override {
        super.setUp();
        maliciousPool = new MaliciousPool(a, b, attacker);
        address[3] memory tokens = [a, b, w];
        // The victim has given SwapRouter unlimited allowances.
        for (uint256 i = 0; i < 3; i++) {
            mintTo(tokens[i], victim, 1000e18);
            vm.prank(victim);
            IERC20(tokens[i]).approve(address(router), type(uint256).max);
        }
    }

    function assertVictimUnchanged() private view {
        address[3] memory tokens = [a, b, w];
        for (uint256 i = 0; i < 3; i++) {
            assertEq(IERC20(tokens[i]).balanceOf(victim), 1000e18, "victim's balance");
            assertEq(IERC20(tokens[i]).allowance(victim, address(router)), type(uint256).max, "victim's allowance");
            assertEq(IERC20(tokens[i]).balanceOf(attacker), 0, "attacker's balance");
        }
    }

    function maliciousRoute(uint256 kind) private view returns (uint256[] memory) {
        return withStep(Route.start(a, b), step(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, address(maliciousPool)));
    }

    /// @dev Calls `router.swap` as the attacker and returns whether it succeeded.
    function attack(SwapRouter.Swap memory s, uint256[] memory route) private returns (bool success) {
        s.recipient = address(0xACCE);
        vm.prank(attacker);
        (success,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
    }

    // Sushi RouteProcessor2, 2023: the attacker's pool requests tokens of another user, who approved the router.

    function test_poolCannotTakeAnotherUsersTokens() public {
        MaliciousPool.Attack[6] memory attacks = [
            MaliciousPool.Attack.RequestMore,
            MaliciousPool.Attack.RequestOther,
            MaliciousPool.Attack.RequestTwice,
            MaliciousPool.Attack.RequestBySecondCaller,
            MaliciousPool.Attack.SkipCallback,
            MaliciousPool.Attack.Unlock
        ];
        for (uint256 i = 0; i < attacks.length; i++) {
            maliciousPool.set(attacks[i], victim, executor, router);
            uint256 before = IERC20(a).balanceOf(address(maliciousPool));
            expectSwapRevert(swapOrder(a, 10e18, b), maliciousRoute(Route.UNISWAP_V3), 0);
            expectSwapRevert(swapOrder(a, 10e18, b), maliciousRoute(Route.UNISWAP_V4), 0);
            assertEq(IERC20(a).balanceOf(address(maliciousPool)), before, "pool's balance");
            assertVictimUnchanged();
            assertNothingHeld();
        }
    }

    /// @dev The second step's pool cannot take the input that is reserved for the third step.
    function test_poolCannotTakeIntermediateBalances() public {
        uint256[] memory route = Route.start(a, b).token(w);
        route = route.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_EXECUTOR, 1 << 23, 3000, v2aw));
        route = route.step(step(Route.UNISWAP_V3, 0, 1, Route.TO_TARGET, 1 << 23, 0, address(maliciousPool)));
        route = route.step(step(Route.UNISWAP_V2, 0, 1, Route.TO_TARGET, Route.ALL, 3000, v2ab));
        maliciousPool.set(MaliciousPool.Attack.RequestMore, victim, executor, router);
        expectSwapRevert(swapOrder(a, 10e18, b), route, SwapExecutor.PartlyFilled.selector);
        maliciousPool.set(MaliciousPool.Attack.RequestTwice, victim, executor, router);
        expectSwapRevert(swapOrder(a, 10e18, b), route, SwapExecutor.UnexpectedCall.selector);
    }

    function test_reenteringPoolCannotSweep() public {
        for (uint256 kind = Route.UNISWAP_V2; kind <= Route.LIQUIDITY_BOOK; kind++) {
            maliciousPool.set(MaliciousPool.Attack.Reenter, victim, executor, router);
            mintTo(a, address(maliciousPool), 1);
            uint256[] memory route = Route.start(a, b).token(w);
            // With a fee, the first output waits in the router and the second in the executor.
            route = route.step(step(Route.UNISWAP_V2, 0, 1, Route.TO_TARGET, 1 << 22, 3000, v2ab));
            route = route.step(step(Route.UNISWAP_V2, 0, 2, Route.TO_EXECUTOR, 1 << 23, 3000, v2aw));
            route = withStep(route, step(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, address(maliciousPool)));
            route = route.step(step(Route.UNISWAP_V2, 2, 0, Route.TO_EXECUTOR, Route.ALL, 3000, v2aw));
            route = route.step(step(Route.UNISWAP_V2, 0, 1, Route.TO_TARGET, Route.ALL, 3000, v2ab));
            trySwap(withFee(swapOrder(a, 10e18, b), 1000), route);
            assertEq(maliciousPool.succeeded(), 0, "successful attempts");
            assertVictimUnchanged();
            assertNothingHeld();
        }
        // The pool kinds without a callback complete the swap: Uniswap V2, Solidly, Curve, Balancer and Liquidity Book.
        assertEq(maliciousPool.attempts(), 5, "swaps that completed");
    }

    function trySwap(SwapRouter.Swap memory s, uint256[] memory route) private {
        fundAndApprove(s);
        vm.prank(user);
        (bool success,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
        success;
    }

    function test_rejectsCallbacksOutsideARoute() public {
        mintTo(a, address(executor), 5e18);
        bytes[4] memory calls = [
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), ""),
            abi.encodeWithSignature("pancakeV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), ""),
            abi.encodeCall(SwapExecutor.unlockCallback, (abi.encode(b, uint256(0), attacker))),
            abi.encodeWithSignature("anything()")
        ];
        for (uint256 i = 0; i < 4; i++) {
            vm.prank(attacker);
            vm.expectPartialRevert(SwapExecutor.UnexpectedCall.selector);
            (bool success,) = address(executor).call(calls[i]);
            success;
        }
    }

    // LI.FI 2022 and 2024, Socket, Dexible, Transit, SwapNet: the approved contract makes an arbitrary call.

    function test_attackerCallingTheExecutorGetsNothing() public {
        address[4] memory pools = [victim, a, address(router), address(maliciousPool)];
        for (uint256 kind = 1; kind <= 9; kind++) {
            for (uint256 i = 0; i < 4; i++) {
                uint256[] memory route =
                    withStep(Route.start(a, b), step(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, pools[i]));
                vm.prank(attacker);
                (bool success,) =
                    address(executor).call(abi.encodeCall(SwapExecutor.executeSwapRoute, (route, attacker, attacker)));
                success;
                assertVictimUnchanged();
            }
        }
        assertNothingHeld();
    }

    function test_rejectsNonPoolsAsPools() public {
        Permit2Like permit2 = new Permit2Like();
        vm.prank(victim);
        IERC20(a).approve(address(permit2), type(uint256).max);
        permit2.allow(victim, a, address(router));
        address[7] memory targets =
            [address(router), address(executor), address(permit2), a, w, victim, address(0x2)];
        for (uint256 kind = 1; kind <= 9; kind++) {
            for (uint256 i = 0; i < targets.length; i++) {
                mintTo(a, attacker, 1e18);
                vm.prank(attacker);
                IERC20(a).approve(address(router), 1e18);
                uint256[] memory route =
                    withStep(Route.start(a, b), step(kind, 0, 1, Route.TO_TARGET, Route.ALL, 0, targets[i]));
                assertTrue(!attack(swapOrder(a, 1e18, b), route), "swap reverted");
                vm.prank(attacker);
                IERC20(a).transfer(address(this), 1e18);
                assertVictimUnchanged();
                assertNothingHeld();
            }
        }
    }

    function test_maliciousExecutorMovesNoTokens() public {
        MaliciousExecutor maliciousExecutor = new MaliciousExecutor(victim, attacker, a, b, router);
        address[6] memory executors = [address(maliciousExecutor), a, w, address(0x2), attacker, address(0)];
        for (uint256 i = 0; i < executors.length; i++) {
            for (uint256 n = 0; n < maliciousExecutor.ATTACKS(); n++) {
                maliciousExecutor.set(n);
                mintTo(a, attacker, 1e18);
                vm.prank(attacker);
                IERC20(a).approve(address(router), 1e18);
                SwapRouter.Swap memory s = swapOrder(a, 1e18, b);
                s.executor = executors[i];
                assertTrue(!attack(s, Route.start(a, b)), "swap reverted");
                vm.prank(attacker);
                IERC20(a).transfer(address(this), 1e18);
                assertVictimUnchanged();
                assertNothingHeld();
            }
        }
    }

    /// @dev `routeSelectors` are the functions that router and executor call on addresses from arguments or a route. None of them
    ///   transfers a token or grants an allowance.
    function test_selectorsDifferFromTokenSelectors() public pure {
        bytes4[9] memory routeSelectors = [
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
        bytes4[16] memory tokenSelectors = [
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
        for (uint256 i = 0; i < routeSelectors.length; i++) {
            assertTrue(routeSelectors[i] != SwapRouter.swap.selector, "router");
            for (uint256 j = 0; j < tokenSelectors.length; j++) assertTrue(routeSelectors[i] != tokenSelectors[j], "token");
        }
    }

    // Lasting allowances

    function test_resetsUnusedAllowances() public {
        maliciousPool.set(MaliciousPool.Attack.LeaveAllowance, victim, executor, router);
        uint256[2] memory allowanceKinds = [Route.CURVE, Route.BALANCER_V2];
        for (uint256 i = 0; i < 2; i++) {
            uint256[] memory route =
                withStep(Route.start(a, b), step(allowanceKinds[i], 0, 1, Route.TO_EXECUTOR, Route.ALL, 0, address(maliciousPool)));
            swap(swapOrder(a, 10e18, b), route);
            assertEq(IERC20(a).allowance(address(executor), address(maliciousPool)), 0, "allowance");
            assertEq(IERC20(a).balanceOf(user), 10e18 * (i + 1), "refunded input");
            assertNothingHeld();
        }
    }

    function test_attackersPoolKeepsNoAllowance() public {
        maliciousPool.set(MaliciousPool.Attack.LeaveAllowance, victim, executor, router);
        mintTo(a, attacker, 1e18);
        vm.startPrank(attacker);
        IERC20(a).transfer(address(executor), 1e18);
        executor.executeSwapRoute(maliciousRoute(Route.CURVE), attacker, address(this));
        vm.stopPrank();
        assertEq(IERC20(a).allowance(address(executor), address(maliciousPool)), 0, "allowance");
        assertNothingHeld();
    }

    function test_hasNoOwnerFunctions() public {
        string[6] memory functions =
            ["owner()", "pause()", "upgradeTo(address)", "rescue(address)", "sweep(address)", "initialize()"];
        for (uint256 i = 0; i < functions.length; i++) {
            (bool onRouter,) = address(router).call(abi.encodeWithSignature(functions[i]));
            (bool onExecutor,) = address(executor).call(abi.encodeWithSignature(functions[i]));
            assertTrue(!onRouter && !onExecutor, "no owner function");
        }
    }
}
