// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {RandomRoutes} from "./RandomRoutes.sol";
import {TestToken} from "./tokens/TestToken.sol";

/// @dev Pays an account in several tokens whenever it is called.
contract Income {
    address private immutable earner;
    address[2] private tokens;
    mapping(address token => uint256) public paid;

    constructor(address earner_, address first, address second) {
        earner = earner_;
        tokens = [first, second];
    }

    function pay() external {
        for (uint256 i = 0; i < 2; i++) {
            TestToken(tokens[i]).mint(earner, 7e18);
            paid[tokens[i]] += 7e18;
        }
    }
}

/// @dev Handler of the invariant test: valid swaps, arbitrary routes, direct calls of the executor and callbacks.
contract InvariantHandler is RandomRoutes {
    address[3] public bystanders = [address(0xB571), address(0xB572), address(0xB573)];
    /// @dev Recipient with income from elsewhere, which token a pushes on every transfer.
    address private earner = address(0xEA21);
    Income private income;
    mapping(address token => uint256) private paidBySwaps;
    uint256 public calls;
    uint256 public swaps;
    uint256 public failed;

    modifier counted() {
        calls++;
        _;
    }

    /// @dev Not in the constructor, because pools call back into this contract.
    function initialize() external {
        setUp();
        income = new Income(earner, b, c);
        address[4] memory tokens = [a, b, c, w];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 4; j++) {
                mintTo(tokens[j], bystanders[i], 1e24);
                vm.prank(bystanders[i]);
                IERC20(tokens[j]).approve(address(router), i == 0 ? type(uint256).max : 1e20);
            }
        }
    }

    function swapValidRoute(uint256 seed) external counted {
        setSeed(seed);
        (SwapRouter.Swap memory s, uint256[] memory route) = randomSwap();
        trySwap(s, route);
        assertNothingHeld();
    }

    /// @dev Hostile code on the route pays the recipient what it is owed elsewhere.
    function swapDuringIncome(uint256 seed) external counted {
        setSeed(seed);
        (SwapRouter.Swap memory s, uint256[] memory route) = randomSwap();
        s.recipient = earner;
        TestToken(a).setHook(address(income), abi.encodeCall(Income.pay, ()));
        paidBySwaps[s.tokenOut] += trySwap(s, route);
        TestToken(a).setHook(address(0), "");
        assertNothingHeld();
    }

    function incomePaid() external view returns (uint256) {
        return income.paid(b);
    }

    function trySwap(SwapRouter.Swap memory s, uint256[] memory route) private returns (uint256 out) {
        fundAndApprove(s);
        vm.prank(user);
        try router.swap{value: s.tokenIn == NATIVE ? s.amountIn : 0}(s, route) returns (uint256 amountOut) {
            swaps++;
            return amountOut;
        } catch {
            failed++;
            // Earlier swaps may have emptied the pools. Reset the allowance, so the next call does not use it.
            if (s.tokenIn != NATIVE) {
                vm.prank(user);
                Transfers.approve(s.tokenIn, address(router), 0);
            }
        }
    }

    /// @dev The bystanders have approved the router; their tokens must not move.
    function swapArbitraryRoute(uint256 seed, uint256[] calldata elements) external counted {
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

    function callExecutor(uint256 seed, uint256[] calldata elements) external counted {
        setSeed(seed);
        if (random(2) == 0) mintTo(a, address(executor), random(1e18));
        uint256[] memory route = arbitraryRoute(elements);
        vm.prank(user);
        (bool success,) = address(executor).call(abi.encodeCall(SwapExecutor.executeSwapRoute, (route, user, user)));
        success;
        sweepExecutor();
    }

    function callBack(int256 amount0, int256 amount1, bytes calldata data, bytes4 selector) external counted {
        vm.prank(user);
        (bool success,) = address(executor).call(abi.encodeWithSelector(selector, amount0, amount1, data));
        assertTrue(!success || selector == SwapExecutor.executeSwapRoute.selector, "rejected");
    }

    /// @dev A route that misstates its pools can leave the caller's own tokens in the executor, where anyone may take them.
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

    /// @dev What the recipient owned or was owed before never counts as output: its balance is the outputs plus its income.
    function assertOnlyOutputsCount() private view {
        address[2] memory tokens = [b, c];
        for (uint256 i = 0; i < 2; i++) {
            uint256 expected = paidBySwaps[tokens[i]] + income.paid(tokens[i]);
            assertEq(IERC20(tokens[i]).balanceOf(earner), expected, "outputs and income");
        }
    }

    function assertInvariants() external view {
        address[4] memory tokens = [a, b, c, w];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 4; j++) {
                // A bystander may have received tokens as the recipient or fee recipient.
                assertTrue(IERC20(tokens[j]).balanceOf(bystanders[i]) >= 1e24, "bystander's balance");
                uint256 allowed = IERC20(tokens[j]).allowance(bystanders[i], address(router));
                assertEq(allowed, i == 0 ? type(uint256).max : 1e20, "bystander's allowance");
                assertEq(IERC20(tokens[j]).allowance(bystanders[i], address(executor)), 0, "bystander's allowance to the executor");
            }
        }
        assertNothingHeld();
        assertOnlyOutputsCount();
    }
}

contract InvariantsTest {
    InvariantHandler private handler;

    function setUp() public {
        handler = new InvariantHandler();
        handler.initialize();
    }

    /// @dev Return type of `targetSelectors`, which forge calls to learn which functions to fuzz.
    struct Target {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() public view returns (Target[] memory targets) {
        bytes4[] memory selectors = new bytes4[](5);
        selectors[0] = InvariantHandler.swapValidRoute.selector;
        selectors[1] = InvariantHandler.swapArbitraryRoute.selector;
        selectors[2] = InvariantHandler.callExecutor.selector;
        selectors[3] = InvariantHandler.callBack.selector;
        selectors[4] = InvariantHandler.swapDuringIncome.selector;
        targets = new Target[](1);
        targets[0] = Target(address(handler), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function invariant_onlyTheCallersTokensMoveAndOnlyOutputsCount() public view {
        handler.assertInvariants();
    }

    /// @dev A run in which most swaps revert proves nothing: of about 25 valid swaps at least half must succeed. forge shortens a run
    ///   that failed for another reason; then that reason counts.
    function afterInvariant() public view {
        if (handler.calls() < 64) return;
        require(handler.swaps() > 3 && handler.swaps() >= handler.failed(), "too few successful swaps");
        require(handler.incomePaid() > 0, "no income was paid during a swap");
    }
}
