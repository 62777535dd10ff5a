// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {RandomRoutes} from "./RandomRoutes.sol";

/// @dev Anyone does anything: swaps, calls of the executor, callbacks, broken routes.
contract Anyone is RandomRoutes {
    address[3] public bystanders = [address(0xB571), address(0xB572), address(0xB573)];
    uint256 public swaps;
    uint256 public failed;

    /// @dev Not in the constructor: pools call back.
    function open() external {
        setUp();
        address[4] memory tokens = [a, b, c, w];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 4; j++) {
                give(tokens[j], bystanders[i], 1e24);
                vm.prank(bystanders[i]);
                IERC20(tokens[j]).approve(address(router), i == 0 ? type(uint256).max : 1e20);
            }
        }
    }

    function swapTruthfully(uint256 seed) external {
        start(seed);
        (SwapRouter.Swap memory s, uint256[] memory route) = randomSwap();
        prepare(s);
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
        nothingStays();
    }

    /// @dev Also with someone else's tokens as input: he has approved the router.
    function swapAnyWords(uint256 seed, uint256[] calldata words) external {
        start(seed);
        SwapRouter.Swap memory s = order(a, 1 + draw(1e18), b);
        if (draw(2) == 0) s.recipient = bystanders[draw(3)];
        if (draw(4) == 0) s.feeTo = bystanders[draw(3)];
        s.feePpm = s.feeTo == address(0) ? 0 : draw(60_000);
        if (draw(2) == 0) prepare(s);
        uint256[] memory route = randomWords(words);
        vm.prank(user);
        (bool done,) = address(router).call(abi.encodeCall(SwapRouter.swap, (s, route)));
        done;
        clean();
    }

    function callExecutor(uint256 seed, uint256[] calldata words) external {
        start(seed);
        if (draw(2) == 0) give(a, address(executor), draw(1e18));
        uint256[] memory route = randomWords(words);
        vm.prank(user);
        (bool done,) = address(executor).call(abi.encodeCall(SwapExecutor.executeSwapRoute, (route, user, user)));
        done;
        clean();
    }

    function callBack(int256 amount0, int256 amount1, bytes calldata data, bytes4 selector) external {
        vm.prank(user);
        (bool done,) = address(executor).call(abi.encodeWithSelector(selector, amount0, amount1, data));
        yes("refused", !done || selector == SwapExecutor.executeSwapRoute.selector);
    }

    /// @dev A route that lies about its pools leaves what its caller brought: anyone may take it, as here.
    function clean() private {
        address[5] memory tokens = [a, b, c, w, NATIVE];
        uint256[] memory take = new uint256[](2);
        take[0] = 1;
        for (uint256 i = 0; i < 5; i++) {
            take[1] = uint256(uint160(tokens[i]));
            executor.executeSwapRoute(take, user, user);
        }
        nothingStays();
    }

    function check() external view {
        address[4] memory tokens = [a, b, c, w];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 4; j++) {
                // He may have been given something, as a recipient.
                yes("bystander's balance", IERC20(tokens[j]).balanceOf(bystanders[i]) >= 1e24);
                uint256 allowed = IERC20(tokens[j]).allowance(bystanders[i], address(router));
                same("bystander's allowance", allowed, i == 0 ? type(uint256).max : 1e20);
                same("of the executor", IERC20(tokens[j]).allowance(bystanders[i], address(executor)), 0);
            }
        }
        nothingStays();
    }
}

contract InvariantsTest {
    Anyone private anyone;

    function setUp() public {
        anyone = new Anyone();
        anyone.open();
    }

    /// @dev forge asks which contracts, and which of their functions, to call.
    struct Target {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() public view returns (Target[] memory targets) {
        bytes4[] memory selectors = new bytes4[](4);
        selectors[0] = Anyone.swapTruthfully.selector;
        selectors[1] = Anyone.swapAnyWords.selector;
        selectors[2] = Anyone.callExecutor.selector;
        selectors[3] = Anyone.callBack.selector;
        targets = new Target[](1);
        targets[0] = Target(address(anyone), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(anyone);
    }

    function invariant_nobodyLosesWhatHeDidNotSwap() public view {
        anyone.check();
    }

    /// @dev A campaign that only fails proves nothing: of some 16 truthful swaps most must go through.
    function afterInvariant() public view {
        require(anyone.swaps() > 3 && anyone.swaps() >= anyone.failed(), "hardly anything was swapped");
    }
}
