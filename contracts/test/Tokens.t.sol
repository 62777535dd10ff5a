// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {Market} from "./Market.sol";
import {Route} from "./Route.sol";
import {TestToken} from "./tokens/TestToken.sol";

/// @dev Tokens that are not as ERC-20 says.
contract TokensTest is Market {
    using Route for uint256[];

    function hop(uint256 flags) private view returns (uint256[] memory route) {
        route = Route.start(a, c).token(b);
        route = route.leg(leg(Route.UNISWAP_V2, 0, 2, flags, Route.ALL, 3000, v2ab));
        uint256 last = flags == Route.TO_NEXT_POOL ? Route.PREPAID | Route.TO_TARGET : Route.TO_TARGET;
        route = route.leg(leg(Route.UNISWAP_V2, 2, 1, last, Route.ALL, 3000, v2bc));
    }

    function test_withoutReturnValue() public {
        TestToken(a).setManners(1);
        TestToken(b).setManners(1);
        TestToken(a).setResetsAllowance(true);
        for (uint256 i = 0; i < kinds.length; i++) {
            // The pools of these tests ask their tokens for an answer; the real ones among them do not.
            if (kinds[i].kind == Route.SOLIDLY || kinds[i].kind == Route.CURVE) continue;
            if (kinds[i].kind == Route.LIQUIDITY_BOOK) continue;
            swap(withFee(order(a, 50e18, b), 1000), withLeg(Route.start(a, b), kinds[i]));
            nothingStays();
        }
    }

    function test_allowancesThatMustBeReset() public {
        TestToken(a).setResetsAllowance(true);
        for (uint256 n = 0; n < 2; n++) {
            for (uint256 i = 0; i < kinds.length; i++) swap(order(a, 50e18, b), withLeg(Route.start(a, b), kinds[i]));
        }
        nothingStays();
    }

    function test_falseInsteadOfARevert() public {
        TestToken(a).setManners(2);
        failSwap(order(a, 1e18, b), Route.one(a, b, kinds[0]), Transfers.TokenRefused.selector);
        TestToken(a).setManners(0);
        TestToken(b).setManners(2);
        for (uint256 i = 0; i < kinds.length; i++) failSwap(order(a, 1e18, b), withLeg(Route.start(a, b), kinds[i]), 0);
    }

    function test_noTokenAtAll() public {
        SwapRouter.Swap memory s = order(address(0xDEAD), 1e18, b);
        vm.expectRevert(abi.encodeWithSelector(Transfers.TokenRefused.selector, address(0xDEAD)));
        vm.prank(user);
        router.swap(s, Route.one(address(0xDEAD), b, kinds[0]));
    }

    function test_feeOnTransferIn() public {
        TestToken(a).setTax(20_000);
        for (uint256 i = 0; i < kinds.length; i++) {
            uint256[] memory route = withLeg(Route.start(a, b), kinds[i]);
            // What counts what came in works; what is told an amount refuses.
            if (isPrepayable(kinds[i].kind)) swap(order(a, 100e18, b), route);
            else if (kinds[i].kind != Route.CURVE && kinds[i].kind != Route.BALANCER_V2) failSwap(order(a, 1e18, b), route, 0);
            nothingStays();
        }
    }

    function test_feeOnTransferOut() public {
        TestToken(b).setTax(20_000);
        uint256 before;
        for (uint256 i = 0; i < kinds.length; i++) {
            before = IERC20(b).balanceOf(recipient);
            uint256 out = swap(order(a, 100e18, b), withLeg(Route.start(a, b), kinds[i]));
            same("what was received", IERC20(b).balanceOf(recipient) - before, out);
            before += out;
            out = swap(withFee(order(a, 100e18, b), 5000), withLeg(Route.start(a, b), kinds[i]));
            same("what was received with fee", IERC20(b).balanceOf(recipient) - before, out);
            nothingStays();
        }
    }

    function test_feeOnTransferOnTheWay() public {
        TestToken(b).setTax(20_000);
        swap(order(a, 100e18, c), hop(Route.HERE));
        swap(order(a, 100e18, c), hop(Route.TO_NEXT_POOL));
        nothingStays();
    }

    /// @dev Passing the token straight on loses its fee once less.
    function test_feeOnTransferIsPaidOnceWherePoolsPayEachOther() public {
        TestToken(b).setTax(20_000);
        uint256 snapshot = vm.snapshotState();
        uint256 twice = swap(order(a, 100e18, c), hop(Route.HERE));
        vm.revertToState(snapshot);
        yes("more", swap(order(a, 100e18, c), hop(Route.TO_NEXT_POOL)) > twice);
    }

    /// @dev ERC-777: a token that calls out in the middle of a transfer, into us.
    function test_reentrantToken() public {
        uint256[] memory thief = new uint256[](2);
        (thief[0], thief[1]) = (1, uint256(uint160(b)));
        address attacker = address(0xBAD);
        bytes[3] memory calls = [
            abi.encodeCall(SwapExecutor.executeSwapRoute, (thief, attacker, attacker)),
            abi.encodeCall(SwapRouter.swap, (order(b, 1e18, c), thief)),
            abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), "")
        ];
        for (uint256 i = 0; i < 3; i++) {
            TestToken(b).setHook(i == 1 ? address(router) : address(executor), calls[i]);
            for (uint256 k = 0; k < kinds.length; k++) {
                Route.Leg memory l = kinds[k];
                l.flags = Route.HERE;
                swap(withFee(order(a, 10e18, b), 10), withLeg(Route.start(a, b), l));
                yes("the hook was refused", TestToken(b).hookFailed());
                nothingStays();
            }
        }
        same("the attacker has nothing", IERC20(b).balanceOf(attacker), 0);
    }

    /// @dev A wrapped coin that keeps what it is given. Its word is the caller's: the minimum protects him.
    function test_lyingWrappedCoin() public {
        vm.deal(address(0xC0FFEE), 5e18);
        uint256[] memory route = Route.start(NATIVE, a).token(address(new LyingWrapped()));
        route = route.leg(leg(Route.WRAP, 0, 2, 0, Route.ALL, 0, address(0)));
        route = route.leg(leg(Route.UNISWAP_V2, 2, 1, Route.TO_TARGET, Route.ALL, 3000, v2aw));
        failSwap(order(NATIVE, 10e18, a), route, 0);
        same("the caller keeps his coins", user.balance, 10e18);
    }
}

contract LyingWrapped {
    function deposit() external payable {}

    function balanceOf(address) external pure returns (uint256) {
        return 10e18;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }
}
