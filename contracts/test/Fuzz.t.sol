// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {RandomRoutes} from "./RandomRoutes.sol";

contract FuzzTest is RandomRoutes {
    /// @dev What is returned is what was received; the very amount is a minimum that holds, one more is not.
    function testFuzz_truthfulRoutes(uint256 seed) public {
        start(seed);
        (SwapRouter.Swap memory s, uint256[] memory route) = randomSwap();
        uint256 snapshot = vm.snapshotState();
        uint256 before = Transfers.balanceOf(s.tokenOut, s.recipient);
        uint256 feeBefore = Transfers.balanceOf(s.tokenOut, partner);
        uint256 out = swap(s, route);
        same("received", Transfers.balanceOf(s.tokenOut, s.recipient) - before, out);
        uint256 fee = Transfers.balanceOf(s.tokenOut, partner) - feeBefore;
        same("fee", fee, (out + fee) * s.feePpm / 1e6);
        same("no input is left", Transfers.balanceOf(s.tokenIn, user), 0);
        nothingStays();

        vm.revertToState(snapshot);
        snapshot = vm.snapshotState();
        s.minOut = out + 1;
        failSwap(s, route, SwapRouter.TooLittle.selector);
        vm.revertToState(snapshot);
        s.minOut = out;
        same("again", swap(s, route), out);
    }

    /// @dev Any words at all: who calls risks his own input, and nobody else's.
    function testFuzz_anyWords(uint256 seed, uint256[] calldata words) public {
        start(seed);
        address bystander = address(0xB57);
        address[3] memory tokens = [a, b, w];
        for (uint256 i = 0; i < 3; i++) {
            give(tokens[i], bystander, 1e24);
            vm.prank(bystander);
            IERC20(tokens[i]).approve(address(router), type(uint256).max);
        }
        SwapRouter.Swap memory s = order(a, 1e18, b);
        prepare(s);
        uint256[] memory route = randomWords(words);
        vm.prank(user);
        (bool swapped,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
        (bool executed,) = address(executor).call(abi.encodeCall(executor.executeSwapRoute, (route, user, user)));
        (swapped, executed);
        for (uint256 i = 0; i < 3; i++) {
            same("bystander", IERC20(tokens[i]).balanceOf(bystander), 1e24);
            same("router", IERC20(tokens[i]).balanceOf(address(router)), 0);
        }
    }
}
