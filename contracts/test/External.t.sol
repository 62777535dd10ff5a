// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ExternalExecutor} from "../src/ExternalExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {ThirdPartyRouter} from "./pools/ThirdPartyRouter.sol";
import {TokenLookalike, CallRecorder, MaliciousRouter} from "./pools/MaliciousRouter.sol";
import {TestToken} from "./tokens/TestToken.sol";

/// @dev Swaps through a third-party router, honest or malicious. docs/threat-model.md lists the attacks.
contract ExternalTest is Market {
    address private constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    address private constant ERC1820 = 0x1820a4B7618BdE71Dce8cdc73aAB6C95905faD24;

    address private victim = address(0x71C7);
    address private attacker = address(0xBAD);
    ExternalExecutor private externalExecutor;
    ThirdPartyRouter private honestRouter;
    MaliciousRouter private maliciousRouter;

    function setUp() public override {
        super.setUp();
        externalExecutor = ExternalExecutor(payable(deployCode(publishedCode("external-executor"))));
        honestRouter = new ThirdPartyRouter();
        maliciousRouter = new MaliciousRouter();
        address[3] memory tokens = [a, b, w];
        for (uint256 i = 0; i < 3; i++) {
            mintTo(tokens[i], address(honestRouter), 1e24);
            mintTo(tokens[i], address(maliciousRouter), 1e24);
            mintTo(tokens[i], victim, 1000e18);
            vm.prank(victim);
            IERC20(tokens[i]).approve(address(router), type(uint256).max);
        }
        vm.deal(address(honestRouter), 1e24);
    }

    function encodeRoute(address source, address target, address callee, address spender, bytes memory data)
        private
        pure
        returns (uint256[] memory route)
    {
        uint256 elements = (data.length + 31) / 32;
        route = new uint256[](5 + elements);
        (route[0], route[1]) = (uint256(uint160(source)), uint256(uint160(target)));
        (route[2], route[3], route[4]) = (uint256(uint160(callee)), uint256(uint160(spender)), data.length);
        bytes memory padded = bytes.concat(data, new bytes(elements * 32 - data.length));
        for (uint256 i = 0; i < elements; i++) {
            uint256 element;
            assembly ("memory-safe") {
                element := mload(add(padded, add(32, mul(i, 32))))
            }
            route[5 + i] = element;
        }
    }

    function externalOrder(address source, uint256 amountIn, address target)
        private
        view
        returns (SwapRouter.Swap memory s)
    {
        s = swapOrder(source, amountIn, target);
        s.executor = address(externalExecutor);
    }

    function honestRoute(address source, uint256 amountIn, address target, uint256 amountOut)
        private
        view
        returns (uint256[] memory)
    {
        bytes memory data = abi.encodeCall(ThirdPartyRouter.trade, (source, amountIn, target, amountOut));
        return encodeRoute(source, target, address(honestRouter), source == NATIVE ? NATIVE : address(honestRouter), data);
    }

    function maliciousRoute(bytes memory data) private view returns (uint256[] memory) {
        return encodeRoute(a, b, address(maliciousRouter), address(maliciousRouter), data);
    }

    /// @dev Neither executor has a balance or a granted allowance. The victim and the attacker have their initial balances and allowances.
    function assertExternalExecutorHoldsNothing() private view {
        assertNothingHeld();
        address[4] memory tokens = [a, b, c, w];
        address holder = address(externalExecutor);
        for (uint256 i = 0; i < 4; i++) {
            IERC20 token = IERC20(tokens[i]);
            assertEq(token.balanceOf(holder), 0, "external executor's balance");
            assertEq(token.allowance(holder, address(honestRouter)), 0, "honest router's allowance");
            assertEq(token.allowance(holder, address(maliciousRouter)), 0, "malicious router's allowance");
            assertEq(token.allowance(holder, attacker), 0, "attacker's allowance");
            assertEq(token.allowance(victim, holder), 0, "victim's allowance to the external executor");
        }
        assertEq(address(externalExecutor).balance, 0, "external executor's native balance");
        for (uint256 i = 0; i < 2; i++) {
            address token = i == 0 ? a : b;
            assertEq(IERC20(token).balanceOf(victim), 1000e18, "victim's balance");
            assertEq(IERC20(token).allowance(victim, address(router)), type(uint256).max, "victim's allowance");
            assertEq(IERC20(token).balanceOf(attacker), 0, "attacker's balance");
        }
    }

    // Honest routers

    function test_swapsTokenForToken() public {
        uint256 out = swap(externalOrder(a, 10e18, b), honestRoute(a, 10e18, b, 33e18));
        assertEq(out, 33e18, "out");
        assertEq(IERC20(b).balanceOf(recipient), 33e18, "received");
        assertExternalExecutorHoldsNothing();
    }

    function test_nativeInputAndOutput() public {
        assertEq(swap(externalOrder(NATIVE, 2e18, b), honestRoute(NATIVE, 2e18, b, 9e18)), 9e18, "out");
        assertEq(address(honestRouter).balance, 1e24 + 2e18, "native coin received by the router");
        assertEq(swap(externalOrder(a, 10e18, NATIVE), honestRoute(a, 10e18, NATIVE, 3e18)), 3e18, "out");
        assertEq(recipient.balance, 3e18, "received");
        assertExternalExecutorHoldsNothing();
    }

    /// @dev The fee is a part of the router's payment and is subtracted before the minimum is checked.
    function test_takesTheFeeBeforeTheMinimum() public {
        SwapRouter.Swap memory s = withFee(externalOrder(a, 10e18, b), 10_000);
        s.minOut = 99e18;
        assertEq(swap(s, honestRoute(a, 10e18, b, 100e18)), 99e18, "out");
        assertEq(IERC20(b).balanceOf(partner), 1e18, "fee");
        s.minOut = 99e18 + 1;
        expectSwapRevert(s, honestRoute(a, 10e18, b, 100e18), SwapRouter.TooLittle.selector);
        assertExternalExecutorHoldsNothing();
    }

    function test_supportsTokensWithoutReturnValueThatNeedAllowanceResets() public {
        TestToken(a).setReturnMode(1);
        TestToken(b).setReturnMode(1);
        TestToken(a).setResetsAllowance(true);
        for (uint256 i = 0; i < 2; i++) {
            assertEq(swap(externalOrder(a, 10e18, b), honestRoute(a, 10e18, b, 1e18)), 1e18, "out");
            // The router takes less than its allowance. The remainder must be reset, or the next approval would revert.
            swap(externalOrder(a, 10e18, b), honestRoute(a, 4e18, b, 1e18));
            assertExternalExecutorHoldsNothing();
        }
    }

    function testFuzz_paysOutputAndRefundsInput(
        uint256 amountIn,
        uint256 amountOut,
        uint256 amountTaken,
        uint256 feePpm,
        uint256 direction
    ) public {
        amountIn = bound(amountIn, 1, 1e23);
        amountOut = bound(amountOut, 1, 1e23);
        amountTaken = bound(amountTaken, 0, amountIn);
        feePpm = bound(feePpm, 0, 50_000);
        (address source, address target) = (direction % 3 == 0 ? NATIVE : a, direction % 3 == 1 ? NATIVE : b);
        if (source == NATIVE) amountTaken = amountIn;
        SwapRouter.Swap memory s = externalOrder(source, amountIn, target);
        if (feePpm > 0) s = withFee(s, feePpm);
        uint256 fee = amountOut * feePpm / 1e6;
        s.minOut = amountOut - fee;
        assertEq(swap(s, honestRoute(source, amountTaken, target, amountOut)), amountOut - fee, "out");
        assertEq(Transfers.balanceOf(target, recipient), amountOut - fee, "received");
        assertEq(Transfers.balanceOf(target, partner), fee, "fee");
        assertEq(Transfers.balanceOf(source, user), amountIn - amountTaken, "refunded input");
        assertExternalExecutorHoldsNothing();
    }

    /// @dev Call data of any length reaches the callee unchanged.
    function testFuzz_forwardsCallDataUnchanged(bytes4 selector, bytes calldata arguments) public {
        Echo echo = new Echo();
        bytes memory data = abi.encodePacked(selector, arguments);
        if (selector == IERC20.balanceOf.selector || selector == echo.last.selector) return;
        externalExecutor.executeSwapRoute(encodeRoute(NATIVE, a, address(echo), NATIVE, data), user, user);
        assertTrue(echo.last() == keccak256(data), "call data");
    }

    function testFuzz_arbitraryRoutesMoveNoOtherTokens(uint256[] calldata elements, bool callsExecutor) public {
        SwapRouter.Swap memory s = externalOrder(a, 1e18, b);
        fundAndApprove(s);
        vm.prank(user);
        if (callsExecutor) {
            try externalExecutor.executeSwapRoute(elements, user, user) {} catch {}
        } else {
            try router.swap(s, elements) {} catch {}
        }
        vm.prank(user);
        IERC20(a).approve(address(router), 0);
        assertExternalExecutorHoldsNothing();
    }

    // Malicious routers

    function test_refundsInputThatTheRouterDidNotTake() public {
        swap(externalOrder(a, 10e18, b), maliciousRoute(abi.encodeCall(MaliciousRouter.take, (IERC20(a), 4e18, IERC20(b), 9e18))));
        assertEq(IERC20(a).balanceOf(user), 6e18, "refunded input");
        assertExternalExecutorHoldsNothing();
    }

    function test_revertsIfTheRouterTakesMore() public {
        bytes memory data = abi.encodeCall(MaliciousRouter.take, (IERC20(a), 10e18 + 1, IERC20(b), 9e18));
        expectSwapRevert(externalOrder(a, 10e18, b), maliciousRoute(data), TestToken.NotAllowed.selector);
    }

    function test_revertsIfTheRouterPaysTooLittle() public {
        bytes memory data = abi.encodeCall(MaliciousRouter.take, (IERC20(a), 10e18, IERC20(b), 0));
        expectSwapRevert(externalOrder(a, 10e18, b), maliciousRoute(data), SwapRouter.TooLittle.selector);
        expectSwapRevert(withFee(externalOrder(a, 10e18, b), 1000), maliciousRoute(data), SwapRouter.TooLittle.selector);
        SwapRouter.Swap memory s = externalOrder(a, 10e18, b);
        s.minOut = 9e18;
        data = abi.encodeCall(MaliciousRouter.take, (IERC20(a), 10e18, IERC20(b), 9e18 - 1));
        expectSwapRevert(s, maliciousRoute(data), SwapRouter.TooLittle.selector);
    }

    function test_resetsAnUnusedAllowance() public {
        bytes memory data = abi.encodeCall(MaliciousRouter.pay, (IERC20(b), 9e18));
        swap(externalOrder(a, 10e18, b), maliciousRoute(data));
        assertEq(IERC20(a).balanceOf(user), 10e18, "refunded input");
        assertExternalExecutorHoldsNothing();
    }

    function test_rejectsReentryIntoRouterAndExecutor() public {
        address[] memory targets = new address[](4);
        bytes[] memory calls = new bytes[](4);
        SwapRouter.Swap memory s = mintingSwap(address(maliciousRouter));
        s.recipient = attacker;
        // Valid on its own: if the executor's lock failed, it would pay the input to the attacker.
        uint256[] memory route =
            encodeRoute(b, a, address(honestRouter), address(honestRouter), abi.encodeCall(ThirdPartyRouter.trade, (b, 0, b, 0)));
        (targets[0], calls[0]) = (address(router), abi.encodeCall(SwapRouter.swap, (s, route)));
        (targets[1], calls[1]) =
            (address(externalExecutor), abi.encodeCall(ExternalExecutor.executeSwapRoute, (route, attacker, attacker)));
        (targets[2], calls[2]) = (a, abi.encodeCall(IERC20.transferFrom, (victim, attacker, 1e18)));
        (targets[3], calls[3]) = (a, abi.encodeCall(IERC20.transferFrom, (address(router), attacker, 1e18)));
        bytes memory data = abi.encodeCall(MaliciousRouter.callBack, (targets, calls, IERC20(b), 9e18));
        swap(withFee(externalOrder(a, 10e18, b), 1000), maliciousRoute(data));
        assertEq(maliciousRouter.attempts(), 4, "attempts");
        assertEq(maliciousRouter.succeeded(), 0, "successful attempts");
        assertExternalExecutorHoldsNothing();
    }

    function test_feeOnTransferOutputCountsAsReceived() public {
        TestToken(b).setTransferFee(20_000);
        SwapRouter.Swap memory s = externalOrder(a, 10e18, b);
        bytes memory data = abi.encodeCall(MaliciousRouter.take, (IERC20(a), 10e18, IERC20(b), 100e18));
        // 100 tokens lose 2 % on each transfer: to the executor, to the router, and to the recipient.
        s.minOut = 94.1192e18 + 1;
        expectSwapRevert(s, maliciousRoute(data), SwapRouter.TooLittle.selector);
        s.minOut = 94.1192e18;
        assertEq(swap(s, maliciousRoute(data)), 94.1192e18, "out");
        assertEq(IERC20(b).balanceOf(recipient), 94.1192e18, "received");
        assertExternalExecutorHoldsNothing();
    }

    function test_allowsOnlyTheReceivedFeeOnTransferInput() public {
        TestToken(a).setTransferFee(20_000);
        // The allowance equals the amount that arrived after the transfer fee.
        bytes memory data = abi.encodeCall(MaliciousRouter.take, (IERC20(a), 10e18, IERC20(b), 1e18));
        expectSwapRevert(externalOrder(a, 10e18, b), maliciousRoute(data), TestToken.NotAllowed.selector);
        data = abi.encodeCall(MaliciousRouter.take, (IERC20(a), 9.8e18, IERC20(b), 1e18));
        swap(externalOrder(a, 10e18, b), maliciousRoute(data));
    }

    function test_passesOnTheRevertReason() public {
        fundAndApprove(externalOrder(a, 10e18, b));
        vm.expectRevert(abi.encodeWithSelector(MaliciousRouter.CustomReason.selector, 7));
        vm.prank(user);
        router.swap(externalOrder(a, 10e18, b), maliciousRoute(abi.encodeCall(MaliciousRouter.refuse, (7))));
    }

    /// @dev Anyone can force native coin into the executor. A caller that refuses it can swap nevertheless (D10).
    function test_forcedNativeCoinDoesNotBlockACallerThatRefusesIt() public {
        vm.etch(user, address(new CallRecorder()).code);
        vm.deal(address(externalExecutor), 1);
        assertEq(swap(externalOrder(a, 10e18, b), honestRoute(a, 10e18, b, 1e18)), 1e18, "out");
        assertEq(address(externalExecutor).balance, 1, "forced coin stays");
    }

    /// @dev The same with native input: what lies in the executor is no unspent input (D10).
    function test_forcedNativeCoinDoesNotBlockNativeInputOfACallerThatRefusesIt() public {
        vm.etch(user, address(new CallRecorder()).code);
        vm.deal(address(externalExecutor), 1);
        assertEq(swap(externalOrder(NATIVE, 1e18, b), honestRoute(NATIVE, 1e18, b, 1e18)), 1e18, "out");
        assertEq(address(externalExecutor).balance, 1, "forced coin stays");
    }

    // Forbidden callees and spenders

    function test_rejectsForbiddenCalleesAndSpenders() public {
        TokenLookalike lookalike = new TokenLookalike();
        bytes memory code = address(new CallRecorder()).code;
        address[4] memory etchedAddresses = [PERMIT2, ERC1820, address(0x64), address(0x100)];
        for (uint256 i = 0; i < etchedAddresses.length; i++) vm.etch(etchedAddresses[i], code);
        address[14] memory targets = [
            address(router), address(externalExecutor), a, b, c, w, victim, address(0), address(0x2), address(lookalike),
            PERMIT2, ERC1820, address(0x64), address(0xDEADDEAD)
        ];
        bytes memory data = abi.encodeCall(IERC20.approve, (attacker, type(uint256).max));
        SwapRouter.Swap memory s = externalOrder(a, 10e18, b);
        for (uint256 i = 0; i < targets.length; i++) {
            expectSwapRevert(s, encodeRoute(a, b, targets[i], address(honestRouter), data), ExternalExecutor.BadTarget.selector);
            expectSwapRevert(s, encodeRoute(a, b, address(honestRouter), targets[i], data), ExternalExecutor.BadTarget.selector);
            uint256[] memory nativeRoute = encodeRoute(NATIVE, b, targets[i], NATIVE, data);
            expectSwapRevert(externalOrder(NATIVE, 1e18, b), nativeRoute, ExternalExecutor.BadTarget.selector);
        }
        assertTrue(!lookalike.touched(), "no call to the lookalike");
        assertExternalExecutorHoldsNothing();
    }

    /// @dev A direct call, without SwapRouter, cannot leave an approval that outlives it.
    function test_directCallerGainsNoLastingRight() public {
        address[5] memory targets = [a, b, c, w, address(externalExecutor)];
        bytes[4] memory calls = [
            abi.encodeCall(IERC20.approve, (attacker, type(uint256).max)),
            abi.encodeCall(IERC20.transferFrom, (victim, attacker, 1e18)),
            abi.encodeWithSignature("increaseAllowance(address,uint256)", attacker, 1e18),
            abi.encodeWithSignature("authorizeOperator(address)", attacker)
        ];
        for (uint256 i = 0; i < targets.length; i++) {
            for (uint256 j = 0; j < calls.length; j++) {
                vm.expectPartialRevert(ExternalExecutor.BadTarget.selector);
                vm.prank(attacker);
                externalExecutor.executeSwapRoute(
                    encodeRoute(NATIVE, address(0xE), targets[i], NATIVE, calls[j]), attacker, attacker
                );
            }
        }
        // The allowance for a spender that the attacker chose ends with the call.
        bytes memory noOp = abi.encodeCall(MaliciousRouter.pay, (IERC20(b), 0));
        mintTo(a, attacker, 1e18);
        vm.startPrank(attacker);
        IERC20(a).transfer(address(externalExecutor), 1e18);
        externalExecutor.executeSwapRoute(maliciousRoute(noOp), attacker, address(this));
        vm.stopPrank();
        assertExternalExecutorHoldsNothing();
    }

    /// @dev In a direct call SwapRouter may be the callee. Its msg.sender is then the executor, which has no tokens to move.
    function test_directCallerCannotUseTheRouter() public {
        SwapRouter.Swap memory s = swapOrder(a, 1e18, b);
        s.recipient = attacker;
        bytes memory data = abi.encodeCall(SwapRouter.swap, (s, honestRoute(a, 1e18, b, 1)));
        vm.expectRevert();
        vm.prank(attacker);
        externalExecutor.executeSwapRoute(encodeRoute(NATIVE, b, address(router), NATIVE, data), attacker, attacker);
        assertExternalExecutorHoldsNothing();
    }

    function test_rejectsNativeOutsideARoute() public {
        vm.deal(attacker, 1e18);
        vm.prank(attacker);
        (bool success,) = address(externalExecutor).call{value: 1}("");
        assertTrue(!success, "rejected");
    }

    function test_rejectsInvalidRoutes() public {
        uint256[] memory route = honestRoute(a, 10e18, b, 1e18);
        SwapRouter.Swap memory s = externalOrder(a, 10e18, b);
        uint256[5] memory lengths = [uint256(0), 3, route[4] + 33, route[4] - 32, type(uint256).max];
        for (uint256 i = 0; i < lengths.length; i++) {
            route[4] = lengths[i];
            expectSwapRevert(s, route, ExternalExecutor.BadRoute.selector);
        }
        route = honestRoute(a, 10e18, b, 1e18);
        for (uint256 index = 0; index < 4; index++) {
            route[index] |= 1 << 160;
            expectSwapRevert(s, route, ExternalExecutor.BadRoute.selector);
            route[index] ^= 1 << 160;
        }
        expectSwapRevert(s, new uint256[](0), ExternalExecutor.BadRoute.selector);
        expectSwapRevert(s, new uint256[](4), ExternalExecutor.BadRoute.selector);
        expectSwapRevert(s, honestRoute(a, 10e18, a, 1e18), ExternalExecutor.BadRoute.selector);
    }

    function test_hasNoOwnerFunctions() public {
        string[6] memory functions =
            ["owner()", "pause()", "upgradeTo(address)", "rescue(address)", "sweep(address)", "initialize()"];
        for (uint256 i = 0; i < functions.length; i++) {
            (bool success,) = address(externalExecutor).call(abi.encodeWithSignature(functions[i]));
            assertTrue(!success, "no owner function");
        }
        assertTrue(ExternalExecutor.executeSwapRoute.selector == executor.executeSwapRoute.selector, "selector");
    }
}

contract Echo {
    bytes32 public last;

    fallback() external {
        if (msg.data.length >= 4 && bytes4(msg.data) == IERC20.balanceOf.selector) revert();
        last = keccak256(msg.data);
    }
}
