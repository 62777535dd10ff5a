// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {RandomRoutes} from "./RandomRoutes.sol";

/// @dev Anyone does anything: swaps, calls of the executor, callbacks, broken routes.
contract InvariantHandler is RandomRoutes {
    address[3] public bystanders = [address(0xB571), address(0xB572), address(0xB573)];
    uint256 public swaps;
    uint256 public failed;

    /// @dev Not in the constructor: pools call back.
    function initialize() external {
        setUp();
        address[4] memory tokens = [a, b, c, w];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 4; j++) {
                mintTo(tokens[j], bystanders[i], 1e24);
                vm.prank(bystanders[i]);
                IERC20(tokens[j]).approve(address(router), i == 0 ? type(uint256).max : 1e20);
            }
        }
    }

    function swapValidRoute(uint256 seed) external {
        setSeed(seed);
        (SwapRouter.Swap memory s, uint256[] memory route) = randomSwap();
        fundAndApprove(s);
        vm.prank(user);
        try router.swap{value: s.tokenIn == NATIVE ? s.amountIn : 0}(s, route) {
            swaps++;
        } catch {
            failed++;
            // Pools that earlier swaps have emptied. What was prepared must not wait for the next call.
            if (s.tokenIn != NATIVE) {
                vm.prank(user);
                Transfers.approve(s.tokenIn, address(router), 0);
            }
        }
        assertNothingHeld();
    }

    /// @dev Also with someone else's tokens as input: he has approved the router.
    function swapArbitraryRoute(uint256 seed, uint256[] calldata elements) external {
        setSeed(seed);
        SwapRouter.Swap memory s = swapOrder(a, 1 + random(1e18), b);
        if (random(2) == 0) s.recipient = bystanders[random(3)];
        if (random(4) == 0) s.feeTo = bystanders[random(3)];
        s.feePpm = s.feeTo == address(0) ? 0 : random(60_000);
        if (random(2) == 0) fundAndApprove(s);
        uint256[] memory route = arbitraryRoute(elements);
        vm.prank(user);
        (bool success,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
        success;
        sweepExecutor();
    }

    function callExecutor(uint256 seed, uint256[] calldata elements) external {
        setSeed(seed);
        if (random(2) == 0) mintTo(a, address(executor), random(1e18));
        uint256[] memory route = arbitraryRoute(elements);
        vm.prank(user);
        (bool success,) = address(executor).call(abi.encodeCall(SwapExecutor.executeSwapRoute, (route, user, user)));
        success;
        sweepExecutor();
    }

    function callBack(int256 amount0, int256 amount1, bytes calldata data, bytes4 selector) external {
        vm.prank(user);
        (bool success,) = address(executor).call(abi.encodeWithSelector(selector, amount0, amount1, data));
        assertTrue(!success || selector == SwapExecutor.executeSwapRoute.selector, "rejected");
    }

    /// @dev A route that lies about its pools leaves what its caller brought: anyone may take it, as here.
    function sweepExecutor() private {
        address[5] memory tokens = [a, b, c, w, NATIVE];
        uint256[] memory sweepRoute = new uint256[](2);
        sweepRoute[0] = 1;
        for (uint256 i = 0; i < 5; i++) {
            sweepRoute[1] = uint256(uint160(tokens[i]));
            executor.executeSwapRoute(sweepRoute, user, user);
        }
        assertNothingHeld();
    }

    function assertInvariants() external view {
        address[4] memory tokens = [a, b, c, w];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 4; j++) {
                // He may have been given something, as a recipient.
                assertTrue(IERC20(tokens[j]).balanceOf(bystanders[i]) >= 1e24, "bystander's balance");
                uint256 allowed = IERC20(tokens[j]).allowance(bystanders[i], address(router));
                assertEq(allowed, i == 0 ? type(uint256).max : 1e20, "bystander's allowance");
                assertEq(IERC20(tokens[j]).allowance(bystanders[i], address(executor)), 0, "bystander's allowance to the executor");
            }
        }
        assertNothingHeld();
    }
}

contract InvariantsTest {
    InvariantHandler private handler;

    function setUp() public {
        handler = new InvariantHandler();
        handler.initialize();
    }

    /// @dev forge asks which contracts, and which of their functions, to call.
    struct Target {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() public view returns (Target[] memory targets) {
        bytes4[] memory selectors = new bytes4[](4);
        selectors[0] = InvariantHandler.swapValidRoute.selector;
        selectors[1] = InvariantHandler.swapArbitraryRoute.selector;
        selectors[2] = InvariantHandler.callExecutor.selector;
        selectors[3] = InvariantHandler.callBack.selector;
        targets = new Target[](1);
        targets[0] = Target(address(handler), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function invariant_onlyTheCallersTokensMove() public view {
        handler.assertInvariants();
    }

    /// @dev A campaign that only fails proves nothing: of some 16 truthful swaps most must go through.
    function afterInvariant() public view {
        require(handler.swaps() > 3 && handler.swaps() >= handler.failed(), "too few successful swaps");
    }
}
