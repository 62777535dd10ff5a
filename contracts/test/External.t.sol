// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ExternalExecutor} from "../src/ExternalExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {OutsideRouter} from "./pools/OutsideRouter.sol";
import {LooksLikeAToken, Noting, TrickRouter} from "./pools/MaliciousRouter.sol";
import {TestToken} from "./tokens/TestToken.sol";

/// @dev What comes with an outside router, honest or not. docs/threat-model.md names the hostile ones.
contract ExternalTest is Market {
    address private constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    address private constant ERC1820 = 0x1820a4B7618BdE71Dce8cdc73aAB6C95905faD24;

    address private victim = address(0x71C7);
    address private attacker = address(0xBAD);
    ExternalExecutor private outside;
    OutsideRouter private honest;
    TrickRouter private trick;

    function setUp() public override {
        super.setUp();
        outside = ExternalExecutor(payable(create(published("external-executor"))));
        honest = new OutsideRouter();
        trick = new TrickRouter();
        address[3] memory tokens = [a, b, w];
        for (uint256 i = 0; i < 3; i++) {
            give(tokens[i], address(honest), 1e24);
            give(tokens[i], address(trick), 1e24);
            give(tokens[i], victim, 1000e18);
            vm.prank(victim);
            IERC20(tokens[i]).approve(address(router), type(uint256).max);
        }
        vm.deal(address(honest), 1e24);
    }

    function by(address source, address target, address called, address spender, bytes memory input)
        private
        pure
        returns (uint256[] memory route)
    {
        uint256 words = (input.length + 31) / 32;
        route = new uint256[](5 + words);
        (route[0], route[1]) = (uint256(uint160(source)), uint256(uint160(target)));
        (route[2], route[3], route[4]) = (uint256(uint160(called)), uint256(uint160(spender)), input.length);
        bytes memory padded = bytes.concat(input, new bytes(words * 32 - input.length));
        for (uint256 i = 0; i < words; i++) {
            uint256 word;
            assembly ("memory-safe") {
                word := mload(add(padded, add(32, mul(i, 32))))
            }
            route[5 + i] = word;
        }
    }

    function outsideOrder(address source, uint256 amountIn, address target)
        private
        view
        returns (SwapRouter.Swap memory s)
    {
        s = order(source, amountIn, target);
        s.executor = address(outside);
    }

    function honestRoute(address source, uint256 amountIn, address target, uint256 amountOut)
        private
        view
        returns (uint256[] memory)
    {
        bytes memory input = abi.encodeCall(OutsideRouter.trade, (source, amountIn, target, amountOut));
        return by(source, target, address(honest), source == NATIVE ? NATIVE : address(honest), input);
    }

    function trickRoute(bytes memory input) private view returns (uint256[] memory) {
        return by(a, b, address(trick), address(trick), input);
    }

    /// @dev Of the executor of outside routes, too, nothing is left, and nobody has a right in it.
    function nothingStaysOutside() private view {
        nothingStays();
        address[4] memory tokens = [a, b, c, w];
        for (uint256 i = 0; i < 4; i++) {
            same("outside's balance", IERC20(tokens[i]).balanceOf(address(outside)), 0);
            same("honest's allowance", IERC20(tokens[i]).allowance(address(outside), address(honest)), 0);
            same("trick's allowance", IERC20(tokens[i]).allowance(address(outside), address(trick)), 0);
            same("attacker's allowance", IERC20(tokens[i]).allowance(address(outside), attacker), 0);
            same("victim's allowance to outside", IERC20(tokens[i]).allowance(victim, address(outside)), 0);
        }
        same("outside's coins", address(outside).balance, 0);
        for (uint256 i = 0; i < 2; i++) {
            address token = i == 0 ? a : b;
            same("victim's balance", IERC20(token).balanceOf(victim), 1000e18);
            same("victim's allowance", IERC20(token).allowance(victim, address(router)), type(uint256).max);
            same("attacker's loot", IERC20(token).balanceOf(attacker), 0);
        }
    }

    // Honest routers.

    function test_tokenForToken() public {
        uint256 out = swap(outsideOrder(a, 10e18, b), honestRoute(a, 10e18, b, 33e18));
        same("out", out, 33e18);
        same("received", IERC20(b).balanceOf(recipient), 33e18);
        nothingStaysOutside();
    }

    function test_coinsInAndOut() public {
        same("out", swap(outsideOrder(NATIVE, 2e18, b), honestRoute(NATIVE, 2e18, b, 9e18)), 9e18);
        same("coins got there", address(honest).balance, 1e24 + 2e18);
        same("out", swap(outsideOrder(a, 10e18, NATIVE), honestRoute(a, 10e18, NATIVE, 3e18)), 3e18);
        same("received", recipient.balance, 3e18);
        nothingStaysOutside();
    }

    /// @dev The fee is of what the outside router paid, and it comes off before the minimum.
    function test_partnersFee() public {
        SwapRouter.Swap memory s = withFee(outsideOrder(a, 10e18, b), 10_000);
        s.minOut = 99e18;
        same("out", swap(s, honestRoute(a, 10e18, b, 100e18)), 99e18);
        same("fee", IERC20(b).balanceOf(partner), 1e18);
        s.minOut = 99e18 + 1;
        failSwap(s, honestRoute(a, 10e18, b, 100e18), SwapRouter.TooLittle.selector);
        nothingStaysOutside();
    }

    function test_tokensThatAnswerNothingAndMustBeReset() public {
        TestToken(a).setManners(1);
        TestToken(b).setManners(1);
        TestToken(a).setResetsAllowance(true);
        for (uint256 i = 0; i < 2; i++) {
            same("out", swap(outsideOrder(a, 10e18, b), honestRoute(a, 10e18, b, 1e18)), 1e18);
            // Less than the allowance is taken: the rest of it must not be in the way of the next.
            swap(outsideOrder(a, 10e18, b), honestRoute(a, 4e18, b, 1e18));
            nothingStaysOutside();
        }
    }

    function testFuzz_whatIsPaidIsReceived(uint256 amountIn, uint256 amountOut, uint256 taken, uint256 feePpm, uint256 way)
        public
    {
        amountIn = within(amountIn, 1, 1e23);
        amountOut = within(amountOut, 1, 1e23);
        taken = within(taken, 0, amountIn);
        feePpm = within(feePpm, 0, 50_000);
        (address source, address target) = (way % 3 == 0 ? NATIVE : a, way % 3 == 1 ? NATIVE : b);
        if (source == NATIVE) taken = amountIn;
        SwapRouter.Swap memory s = outsideOrder(source, amountIn, target);
        if (feePpm > 0) s = withFee(s, feePpm);
        uint256 fee = amountOut * feePpm / 1e6;
        s.minOut = amountOut - fee;
        same("out", swap(s, honestRoute(source, taken, target, amountOut)), amountOut - fee);
        same("received", Transfers.balanceOf(target, recipient), amountOut - fee);
        same("fee", Transfers.balanceOf(target, partner), fee);
        same("unused input is back", Transfers.balanceOf(source, user), amountIn - taken);
        nothingStaysOutside();
    }

    /// @dev Every length of a call reaches its target byte by byte.
    function testFuzz_callsArriveAsTheyAre(bytes4 selector, bytes calldata rest) public {
        Echo echo = new Echo();
        bytes memory input = abi.encodePacked(selector, rest);
        if (selector == IERC20.balanceOf.selector || selector == echo.last.selector) return;
        outside.executeSwapRoute(by(NATIVE, a, address(echo), NATIVE, input), user, user);
        yes("arrived", echo.last() == keccak256(input));
    }

    function testFuzz_anyWords(uint256[] calldata words, bool isDirect) public {
        SwapRouter.Swap memory s = outsideOrder(a, 1e18, b);
        prepare(s);
        vm.prank(user);
        if (isDirect) {
            try outside.executeSwapRoute(words, user, user) {} catch {}
        } else {
            try router.swap(s, words) {} catch {}
        }
        vm.prank(user);
        IERC20(a).approve(address(router), 0);
        nothingStaysOutside();
    }

    // Hostile ones.

    function test_takesLess() public {
        swap(outsideOrder(a, 10e18, b), trickRoute(abi.encodeCall(TrickRouter.take, (IERC20(a), 4e18, IERC20(b), 9e18))));
        same("the rest is back", IERC20(a).balanceOf(user), 6e18);
        nothingStaysOutside();
    }

    function test_takesMore() public {
        bytes memory input = abi.encodeCall(TrickRouter.take, (IERC20(a), 10e18 + 1, IERC20(b), 9e18));
        failSwap(outsideOrder(a, 10e18, b), trickRoute(input), TestToken.NotAllowed.selector);
    }

    function test_takesAllAndPaysNothing() public {
        bytes memory input = abi.encodeCall(TrickRouter.take, (IERC20(a), 10e18, IERC20(b), 0));
        failSwap(outsideOrder(a, 10e18, b), trickRoute(input), SwapRouter.TooLittle.selector);
        failSwap(withFee(outsideOrder(a, 10e18, b), 1000), trickRoute(input), SwapRouter.TooLittle.selector);
        SwapRouter.Swap memory s = outsideOrder(a, 10e18, b);
        s.minOut = 9e18;
        input = abi.encodeCall(TrickRouter.take, (IERC20(a), 10e18, IERC20(b), 9e18 - 1));
        failSwap(s, trickRoute(input), SwapRouter.TooLittle.selector);
    }

    function test_leavesAnAllowance() public {
        bytes memory input = abi.encodeCall(TrickRouter.pay, (IERC20(b), 9e18));
        swap(outsideOrder(a, 10e18, b), trickRoute(input));
        same("all input is back", IERC20(a).balanceOf(user), 10e18);
        nothingStaysOutside();
    }

    function test_reentersRouterAndExecutor() public {
        address[] memory targets = new address[](4);
        bytes[] memory inputs = new bytes[](4);
        SwapRouter.Swap memory s = outsideOrder(a, 1e18, b);
        s.recipient = attacker;
        // By itself good: whoever got through with it would have the input.
        uint256[] memory sweep = by(b, a, address(honest), address(honest), abi.encodeCall(OutsideRouter.trade, (b, 0, b, 0)));
        (targets[0], inputs[0]) = (address(router), abi.encodeCall(SwapRouter.swap, (s, sweep)));
        (targets[1], inputs[1]) =
            (address(outside), abi.encodeCall(ExternalExecutor.executeSwapRoute, (sweep, attacker, attacker)));
        (targets[2], inputs[2]) = (a, abi.encodeCall(IERC20.transferFrom, (victim, attacker, 1e18)));
        (targets[3], inputs[3]) = (a, abi.encodeCall(IERC20.transferFrom, (address(router), attacker, 1e18)));
        bytes memory input = abi.encodeCall(TrickRouter.callBack, (targets, inputs, IERC20(b), 9e18));
        swap(withFee(outsideOrder(a, 10e18, b), 1000), trickRoute(input));
        same("tried", trick.attempts(), 4);
        same("came through", trick.succeeded(), 0);
        nothingStaysOutside();
    }

    function test_paysInATokenThatTakesAFee() public {
        TestToken(b).setTax(20_000);
        SwapRouter.Swap memory s = outsideOrder(a, 10e18, b);
        bytes memory input = abi.encodeCall(TrickRouter.take, (IERC20(a), 10e18, IERC20(b), 100e18));
        // 100 lose 2 on their way here, and 98 lose 2 % on theirs to the recipient.
        s.minOut = 96.04e18 + 1;
        failSwap(s, trickRoute(input), SwapRouter.TooLittle.selector);
        s.minOut = 96.04e18;
        same("out", swap(s, trickRoute(input)), 96.04e18);
        same("received", IERC20(b).balanceOf(recipient), 96.04e18);
        nothingStaysOutside();
    }

    function test_takesATokenThatTakesAFee() public {
        TestToken(a).setTax(20_000);
        // Only what came may be taken.
        bytes memory input = abi.encodeCall(TrickRouter.take, (IERC20(a), 10e18, IERC20(b), 1e18));
        failSwap(outsideOrder(a, 10e18, b), trickRoute(input), TestToken.NotAllowed.selector);
        input = abi.encodeCall(TrickRouter.take, (IERC20(a), 9.8e18, IERC20(b), 1e18));
        swap(outsideOrder(a, 10e18, b), trickRoute(input));
    }

    function test_itsReasonIsPassedOn() public {
        prepare(outsideOrder(a, 10e18, b));
        vm.expectRevert(abi.encodeWithSelector(TrickRouter.NotToday.selector, 7));
        vm.prank(user);
        router.swap(outsideOrder(a, 10e18, b), trickRoute(abi.encodeCall(TrickRouter.refuse, (7))));
    }

    // Targets that are none.

    function test_forbiddenTargets() public {
        LooksLikeAToken other = new LooksLikeAToken();
        bytes memory code = address(new Noting()).code;
        address[4] memory etched = [PERMIT2, ERC1820, address(0x64), address(0x100)];
        for (uint256 i = 0; i < etched.length; i++) vm.etch(etched[i], code);
        address[14] memory targets = [
            address(router), address(outside), a, b, c, w, victim, address(0), address(0x2), address(other),
            PERMIT2, ERC1820, address(0x64), address(0xDEADDEAD)
        ];
        bytes memory input = abi.encodeCall(IERC20.approve, (attacker, type(uint256).max));
        SwapRouter.Swap memory s = outsideOrder(a, 10e18, b);
        for (uint256 i = 0; i < targets.length; i++) {
            failSwap(s, by(a, b, targets[i], address(honest), input), ExternalExecutor.BadTarget.selector);
            failSwap(s, by(a, b, address(honest), targets[i], input), ExternalExecutor.BadTarget.selector);
            failSwap(outsideOrder(NATIVE, 1e18, b), by(NATIVE, b, targets[i], NATIVE, input), ExternalExecutor.BadTarget.selector);
        }
        yes("not touched", !other.touched());
        nothingStaysOutside();
    }

    /// @dev Without a swap: whoever calls it himself gets no right in it that lasts.
    function test_attackerWhoCallsItHimself() public {
        address[5] memory targets = [a, b, c, w, address(outside)];
        bytes[4] memory inputs = [
            abi.encodeCall(IERC20.approve, (attacker, type(uint256).max)),
            abi.encodeCall(IERC20.transferFrom, (victim, attacker, 1e18)),
            abi.encodeWithSignature("increaseAllowance(address,uint256)", attacker, 1e18),
            abi.encodeWithSignature("authorizeOperator(address)", attacker)
        ];
        for (uint256 i = 0; i < targets.length; i++) {
            for (uint256 j = 0; j < inputs.length; j++) {
                vm.expectPartialRevert(ExternalExecutor.BadTarget.selector);
                vm.prank(attacker);
                outside.executeSwapRoute(by(NATIVE, address(0xE), targets[i], NATIVE, inputs[j]), attacker, attacker);
            }
        }
        // Its tokens' allowance for a spender of his own ends with the call.
        bytes memory nothing = abi.encodeCall(TrickRouter.pay, (IERC20(b), 0));
        give(a, attacker, 1e18);
        vm.startPrank(attacker);
        IERC20(a).transfer(address(outside), 1e18);
        outside.executeSwapRoute(trickRoute(nothing), attacker, address(this));
        vm.stopPrank();
        nothingStaysOutside();
    }

    /// @dev The router is called as the executor, which has nothing: whatever it is told, it moves nobody's tokens.
    function test_attackerWhoNamesTheRouter() public {
        SwapRouter.Swap memory s = order(a, 1e18, b);
        s.recipient = attacker;
        bytes memory input = abi.encodeCall(SwapRouter.swap, (s, honestRoute(a, 1e18, b, 1)));
        vm.expectRevert();
        vm.prank(attacker);
        outside.executeSwapRoute(by(NATIVE, b, address(router), NATIVE, input), attacker, attacker);
        nothingStaysOutside();
    }

    function test_coinsOutsideOfARoute() public {
        vm.deal(attacker, 1e18);
        vm.prank(attacker);
        (bool paid,) = address(outside).call{value: 1}("");
        yes("refused", !paid);
    }

    function test_brokenRoutes() public {
        uint256[] memory route = honestRoute(a, 10e18, b, 1e18);
        SwapRouter.Swap memory s = outsideOrder(a, 10e18, b);
        uint256[5] memory lengths = [uint256(0), 3, route[4] + 33, route[4] - 32, type(uint256).max];
        for (uint256 i = 0; i < lengths.length; i++) {
            route[4] = lengths[i];
            failSwap(s, route, ExternalExecutor.BadRoute.selector);
        }
        route = honestRoute(a, 10e18, b, 1e18);
        for (uint256 place = 0; place < 4; place++) {
            route[place] |= 1 << 160;
            failSwap(s, route, ExternalExecutor.BadRoute.selector);
            route[place] ^= 1 << 160;
        }
        failSwap(s, new uint256[](0), ExternalExecutor.BadRoute.selector);
        failSwap(s, new uint256[](4), ExternalExecutor.BadRoute.selector);
        failSwap(s, honestRoute(a, 10e18, a, 1e18), ExternalExecutor.BadRoute.selector);
    }

    function test_nobodyOwnsIt() public {
        string[6] memory doors = ["owner()", "pause()", "upgradeTo(address)", "rescue(address)", "sweep(address)", "initialize()"];
        for (uint256 i = 0; i < doors.length; i++) {
            (bool done,) = address(outside).call(abi.encodeWithSignature(doors[i]));
            yes("no such door", !done);
        }
        yes("selector", ExternalExecutor.executeSwapRoute.selector == executor.executeSwapRoute.selector);
    }
}

contract Echo {
    bytes32 public last;

    fallback() external {
        if (msg.data.length >= 4 && bytes4(msg.data) == IERC20.balanceOf.selector) revert();
        last = keccak256(msg.data);
    }
}
