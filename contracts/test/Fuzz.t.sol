// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {RandomRoutes} from "./RandomRoutes.sol";

contract FuzzTest is RandomRoutes {
    /// @dev The returned amount is the received amount: as a minimum it passes, and one unit more reverts.
    function testFuzz_returnsWhatTheRecipientReceived(uint256 seed) public {
        setSeed(seed);
        (SwapRouter.Swap memory s, uint256[] memory route) = randomSwap();
        uint256 snapshot = vm.snapshotState();
        uint256 before = Transfers.balanceOf(s.tokenOut, s.recipient);
        uint256 feeBefore = Transfers.balanceOf(s.tokenOut, partner);
        uint256 out = swap(s, route);
        assertEq(Transfers.balanceOf(s.tokenOut, s.recipient) - before, out, "received");
        uint256 fee = Transfers.balanceOf(s.tokenOut, partner) - feeBefore;
        assertEq(fee, (out + fee) * s.feePpm / 1e6, "fee");
        assertEq(Transfers.balanceOf(s.tokenIn, user), 0, "unspent input");
        assertNothingHeld();

        vm.revertToState(snapshot);
        snapshot = vm.snapshotState();
        s.minOut = out + 1;
        expectSwapRevert(s, route, SwapRouter.TooLittle.selector);
        vm.revertToState(snapshot);
        s.minOut = out;
        assertEq(swap(s, route), out, "out with the exact minimum");
    }

    /// @dev With an arbitrary route the caller can lose only its own input.
    function testFuzz_arbitraryRoutesMoveNoOtherTokens(uint256 seed, uint256[] calldata elements) public {
        setSeed(seed);
        address bystander = address(0xB57);
        address[3] memory tokens = [a, b, w];
        for (uint256 i = 0; i < 3; i++) {
            mintTo(tokens[i], bystander, 1e24);
            vm.prank(bystander);
            IERC20(tokens[i]).approve(address(router), type(uint256).max);
        }
        SwapRouter.Swap memory s = swapOrder(a, 1e18, b);
        fundAndApprove(s);
        uint256[] memory route = arbitraryRoute(elements);
        vm.prank(user);
        (bool swapped,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
        (bool executed,) = address(executor).call(abi.encodeCall(executor.executeSwapRoute, (route, user, user)));
        (swapped, executed);
        for (uint256 i = 0; i < 3; i++) {
            assertEq(IERC20(tokens[i]).balanceOf(bystander), 1e24, "bystander");
            assertEq(IERC20(tokens[i]).balanceOf(address(router)), 0, "router");
        }
    }
}
