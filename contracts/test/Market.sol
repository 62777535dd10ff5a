// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SwapExecutor} from "../src/SwapExecutor.sol";
import {SwapRouter} from "../src/SwapRouter.sol";
import {IERC20, NATIVE, Transfers} from "../src/Transfers.sol";
import {CurvePool} from "./pools/CurvePool.sol";
import {LiquidityBookPool} from "./pools/LiquidityBookPool.sol";
import {MintingExecutor} from "./pools/MintingExecutor.sol";
import {SolidlyPool} from "./pools/SolidlyPool.sol";
import {RealVenues} from "./RealVenues.sol";
import {Route} from "./Route.sol";
import {TestToken} from "./tokens/TestToken.sol";

/// @dev Fixture: router and executor from generated/, three tokens, the wrapped native coin, and a pool of every kind for a and b.
abstract contract Market is RealVenues {
    uint256 internal constant DEPTH = 1e24;

    SwapRouter internal router;
    SwapExecutor internal executor;
    address internal user = address(0x05E4);
    address internal recipient = address(0x4EC1);
    address internal partner = address(0xFEE);

    address internal a = address(new TestToken());
    address internal b = address(new TestToken());
    address internal c = address(new TestToken());
    address internal w;

    /// @dev One step per pool kind that swaps the whole balance of a (token 0) to b (token 1) and pays the recipient.
    Route.Step[] internal poolKinds;
    bytes32 internal poolId;
    address internal v2ab;
    address internal v2bc;
    address internal v3ab;
    address internal v3bc;
    address internal v2aw;
    address internal v3aw;
    SolidlyPool internal solidly;
    CurvePool internal curve;
    LiquidityBookPool internal book;

    function setUp() public virtual {
        deployVenues();
        router = SwapRouter(payable(deployCode(publishedCode("swap-router"))));
        executor = SwapExecutor(payable(deployCode(publishedCode("swap-executor"))));
        w = address(wrapped);
        v2ab = uniswapV2Pair(a, b, DEPTH, 2 * DEPTH);
        v2bc = uniswapV2Pair(b, c, DEPTH, DEPTH);
        v2aw = uniswapV2Pair(a, w, DEPTH, DEPTH);
        v3ab = uniswapV3Pool(a, b, 500, 8000, 5e24);
        v3bc = uniswapV3Pool(b, c, 3000, 60000, 1e24);
        v3aw = uniswapV3Pool(a, w, 3000, 60000, 1e24);
        uniswapV4Pool(a, b, 100, 1, 8000, 5e24);
        uniswapV4Pool(NATIVE, a, 3000, 60, 60000, 1e24);
        solidly = new SolidlyPool();
        solidly.initialize(a, b, true, false, address(0));
        address[] memory coins = new address[](2);
        (coins[0], coins[1]) = (a, b);
        curve = new CurvePool(coins, 200, 4_000_000, 2e10, 0);
        book = new LiquidityBookPool(a, b, 25, 2 ** 23 + 160);
        fundPool(address(solidly));
        fundPool(address(curve));
        fundPool(address(book));
        solidly.sync();
        curve.sync();
        book.sync();
        poolId = balancerPool(a, b, DEPTH, DEPTH);

        addPoolKind(Route.UNISWAP_V2, 3000, v2ab);
        addPoolKind(Route.UNISWAP_V3, 0, v3ab);
        addPoolKind(Route.UNISWAP_V3, 0, algebraPool(a, b, 6000, 5e24));
        addPoolKind(Route.UNISWAP_V4, 100 << 16 | 1, manager);
        addPoolKind(Route.SOLIDLY, 0, address(solidly));
        addPoolKind(Route.CURVE, 0 << 8 | 1, address(curve));
        addPoolKind(Route.CURVE, 1 << 16 | 0 << 8 | 1, address(curve));
        addPoolKind(Route.BALANCER_V2, 0, vault);
        addPoolKind(Route.LIQUIDITY_BOOK, 1, address(book));
    }

    function addPoolKind(uint256 kind, uint256 extra, address pool) private {
        poolKinds.push(Route.Step(kind, 0, 1, Route.TO_TARGET, Route.ALL, extra, pool));
    }

    function fundPool(address pool) private {
        mintTo(a, pool, DEPTH);
        mintTo(b, pool, DEPTH);
    }

    function acceptsPrepaidInput(uint256 kind) internal pure returns (bool) {
        return kind == Route.UNISWAP_V2 || kind == Route.SOLIDLY || kind == Route.LIQUIDITY_BOOK;
    }

    function step(uint256 kind, uint256 tokenIn, uint256 tokenOut, uint256 flags, uint256 share, uint256 extra, address pool)
        internal
        pure
        returns (Route.Step memory)
    {
        return Route.Step(kind, tokenIn, tokenOut, flags, share, extra, pool);
    }

    /// @dev Appends a step, and the pool id that follows a Balancer step.
    function withStep(uint256[] memory route, Route.Step memory s) internal view returns (uint256[] memory) {
        route = Route.step(route, s);
        return s.kind == Route.BALANCER_V2 ? Route.append(route, uint256(poolId)) : route;
    }

    function swapOrder(address tokenIn, uint256 amountIn, address tokenOut) internal view returns (SwapRouter.Swap memory s) {
        s.tokenIn = tokenIn;
        s.amountIn = amountIn;
        s.tokenOut = tokenOut;
        s.minOut = 1;
        s.recipient = recipient;
        s.deadline = block.timestamp;
        s.executor = address(executor);
    }

    /// @dev A swap of c by `caller` that succeeds with any route, once.
    function mintingSwap(address caller) internal returns (SwapRouter.Swap memory s) {
        TestToken output = new TestToken();
        s = swapOrder(c, 1e18, address(output));
        s.executor = address(new MintingExecutor(output));
        TestToken(c).mint(caller, s.amountIn);
        vm.prank(caller);
        TestToken(c).approve(address(router), s.amountIn);
    }

    function withFee(SwapRouter.Swap memory s, uint256 feePpm) internal view returns (SwapRouter.Swap memory) {
        (s.feeTo, s.feePpm) = (partner, feePpm);
        return s;
    }

    /// @dev Swaps as `user`, who holds and approves exactly the input.
    function swap(SwapRouter.Swap memory s, uint256[] memory route) internal returns (uint256) {
        fundAndApprove(s);
        vm.prank(user);
        return router.swap{value: s.tokenIn == NATIVE ? s.amountIn : 0}(s, route);
    }

    function expectSwapRevert(SwapRouter.Swap memory s, uint256[] memory route, bytes4 reason) internal {
        fundAndApprove(s);
        if (reason == 0) vm.expectRevert();
        else vm.expectPartialRevert(reason);
        vm.prank(user);
        router.swap{value: s.tokenIn == NATIVE ? s.amountIn : 0}(s, route);
    }

    function fundAndApprove(SwapRouter.Swap memory s) internal {
        if (s.tokenIn == NATIVE) {
            vm.deal(user, s.amountIn);
        } else {
            mintTo(s.tokenIn, user, s.amountIn);
            vm.prank(user);
            // A test token may return false or nothing.
            (bool approved,) = s.tokenIn.call(abi.encodeCall(IERC20.approve, (address(router), s.amountIn)));
            assertTrue(approved, "approved");
        }
    }

    /// @dev Invariant: router and executor hold no balance, and neither grants or has received an allowance.
    function assertNothingHeld() internal view {
        address[5] memory tokens = [a, b, c, w, NATIVE];
        for (uint256 i = 0; i < 5; i++) {
            assertEq(Transfers.balanceOf(tokens[i], address(router)), 0, "router's balance");
            assertEq(Transfers.balanceOf(tokens[i], address(executor)), 0, "executor's balance");
            if (tokens[i] == NATIVE) continue;
            assertEq(IERC20(tokens[i]).allowance(address(executor), vault), 0, "allowance to vault");
            assertEq(IERC20(tokens[i]).allowance(address(executor), address(curve)), 0, "allowance to curve");
            assertEq(IERC20(tokens[i]).allowance(address(router), address(executor)), 0, "router's allowance");
            assertEq(IERC20(tokens[i]).allowance(user, address(executor)), 0, "user's allowance to executor");
        }
    }
}
