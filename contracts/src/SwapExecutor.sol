// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISwapExecutor} from "./ISwapExecutor.sol";
import {IERC20, NATIVE, Transfers} from "./Transfers.sol";
import {IBalancerVault, ICurvePool, ILBPair, IPair, IPoolManager, IUniswapV3Pool, IWrapped} from "./Venues.sol";

/// @title SwapExecutor
/// @notice Trades along a route through pools of several kinds. Do not approve this contract and do not send it tokens: anyone may
///   call it and take its balance.
/// @dev Elements of `route`:
///   [0]      number of tokens
///   [1…]     the tokens; the first is the source, the second the target; NATIVE stands for the native coin
///   [then…]  steps, in order of execution. Bit fields from the most significant bit:
///            kind 8 | token in 8 | token out 8 | flags 8 | share 24 | extra 40 | pool 160
///            Tokens are indexes into the list above. `share` is the part of this contract's balance of the token in to trade,
///            in 2^-24, rounded down; ALL is the whole balance. A step without input reverts.
///   A Balancer step is followed by one more element, the pool id, so it cannot send its output to the next pool.
/// The caller chooses the pools, and a pool may be malicious. Invariant: a pool can take only tokens that the same call brought.
///   - The lock refuses every other call while a route runs.
///   - A callback is answered once, only to the pool of the current step, and with exactly the amount of that step.
///   - An allowance for a vault or a Curve pool is reset before the next step.
/// Not tradable: tokens that call their recipient on a transfer (ERC-223, ERC-677), because the fallback function refuses them. A
/// Uniswap V4 step reverts (AlreadyUnlocked) if the caller runs inside an open `unlock` of the same manager, such as in a V4 hook.
contract SwapExecutor is ISwapExecutor {
    uint256 private constant ALL = type(uint24).max;

    uint256 private constant UNISWAP_V2 = 1;
    uint256 private constant UNISWAP_V3 = 2;
    uint256 private constant UNISWAP_V4 = 3;
    uint256 private constant SOLIDLY = 4;
    uint256 private constant CURVE = 5;
    uint256 private constant BALANCER_V2 = 6;
    uint256 private constant LIQUIDITY_BOOK = 7;
    uint256 private constant WRAP = 8;
    uint256 private constant UNWRAP = 9;

    /// @dev Flags for the recipient of a step's output: the route's recipient or the next step's pool. Without a flag this contract
    ///   receives it. This contract always receives the native coin.
    uint256 private constant TO_TARGET = 1;
    uint256 private constant TO_NEXT_POOL = 2;
    /// @dev Flag: the previous step has already sent the input to the pool.
    uint256 private constant PREPAID = 4;

    /// @dev TickMath.MIN_SQRT_RATIO + 1 and MAX_SQRT_RATIO - 1: no price limit.
    uint160 private constant LOWEST_PRICE = 4295128740;
    uint160 private constant HIGHEST_PRICE = 1461446703485210103287273052203988822378723970341;

    error Reentered();
    error BadStep(uint256 step);
    /// @dev A step has nothing to trade: its share of the balance is zero, or no token reached the pool.
    error NoInput(uint256 step);
    /// @dev The amount does not fit into int256.
    error BadAmount(uint256 amount);
    error UnexpectedCall(address sender);
    error NotCalledBack(address pool);
    /// @dev The pool has too little liquidity for the whole amount.
    error PartlyFilled(address pool, uint256 amount);

    struct Step {
        address tokenIn;
        address tokenOut;
        uint256 amount;
        uint256 extra;
        address pool;
        address to;
        bool prepaid;
    }

    /// @dev Reentrancy lock.
    bool private transient locked;
    /// @dev The pool that may call back once, and the token and amount that it is then paid. Zero if no callback is expected.
    address private transient payee;
    address private transient owedToken;
    uint256 private transient owedAmount;
    /// @dev The wrapped-coin contract or pool that may pay the native coin during the current step, else zero.
    address private transient nativePayer;

    /// @inheritdoc ISwapExecutor
    function executeSwapRoute(uint256[] calldata route, address to, address refund) external payable {
        if (locked) revert Reentered();
        locked = true;
        uint256 tokens = route[0];
        // Bitmap of tokens that this contract may hold; at first only the source.
        uint256 held = 1;
        for (uint256 index = tokens + 1; index < route.length; index++) {
            held |= _execute(route, index, to);
            if (route[index] >> 248 == BALANCER_V2) index++;
        }
        _payBalances(route, held, to, refund);
        locked = false;
    }

    /// @dev Accepts the native coin only from the wrapped-coin contract or pool of the current step.
    receive() external payable {
        if (msg.sender != nativePayer) revert UnexpectedCall(msg.sender);
    }

    /// @dev Callback of Uniswap V3 and its forks under any name (uniswapV3SwapCallback, pancakeV3SwapCallback, algebraSwapCallback)
    ///   with arguments (int256, int256, bytes).
    fallback() external {
        (address token, uint256 amount) = _takeExpectedCallback();
        (int256 amount0, int256 amount1) = abi.decode(msg.data[4:], (int256, int256));
        // The amount owed to the pool is positive. A pool that asks for less has run out of liquidity.
        if (amount0 != int256(amount) && amount1 != int256(amount)) revert PartlyFilled(msg.sender, amount);
        Transfers.pay(token, msg.sender, amount);
    }

    /// @dev Callback of Uniswap V4's PoolManager. Pools have no hooks.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (address tokenIn, uint256 amount) = _takeExpectedCallback();
        (address tokenOut, uint256 extra, address to) = abi.decode(data, (address, uint256, address));
        bool zeroForOne = tokenIn < tokenOut;
        IPoolManager manager = IPoolManager(msg.sender);
        int256 delta = manager.swap(
            IPoolManager.PoolKey({
                currency0: zeroForOne ? tokenIn : tokenOut,
                currency1: zeroForOne ? tokenOut : tokenIn,
                fee: uint24(extra >> 16),
                tickSpacing: int24(int16(uint16(extra))),
                hooks: address(0)
            }),
            IPoolManager.SwapParams(zeroForOne, -int256(amount), zeroForOne ? LOWEST_PRICE : HIGHEST_PRICE),
            ""
        );
        (int128 deltaIn, int128 deltaOut) =
            zeroForOne ? (int128(delta >> 128), int128(delta)) : (int128(delta), int128(delta >> 128));
        if (deltaIn != -int256(amount)) revert PartlyFilled(msg.sender, amount);
        if (tokenIn == NATIVE) {
            // Anyone may have called `sync` for a token, which would make the manager refuse the native coin.
            manager.sync(NATIVE);
            manager.settle{value: amount}();
        } else {
            manager.sync(tokenIn);
            Transfers.pay(tokenIn, msg.sender, amount);
            manager.settle();
        }
        if (deltaOut > 0) manager.take(tokenOut, to, uint128(deltaOut));
        return "";
    }

    /// @return held The output token's bit if this contract receives the output, else 0
    function _execute(uint256[] calldata route, uint256 index, address to) private returns (uint256 held) {
        uint256 step = route[index];
        uint256 kind = step >> 248;
        uint256 flags = uint8(step >> 224);
        Step memory s;
        s.tokenIn = _token(route, uint8(step >> 240));
        s.tokenOut = _token(route, uint8(step >> 232));
        s.extra = uint40(step >> 160);
        s.pool = address(uint160(step));
        s.prepaid = flags & PREPAID != 0;
        if (s.prepaid) {
            if (kind != UNISWAP_V2 && kind != SOLIDLY && kind != LIQUIDITY_BOOK) revert BadStep(step);
        } else {
            s.amount = _shareOf(s.tokenIn, uint24(step >> 200));
            if (s.amount == 0) revert NoInput(step);
        }
        if (s.tokenOut == NATIVE) {
            s.to = address(this);
            nativePayer = kind == UNWRAP ? s.tokenIn : s.pool;
        } else if (flags & TO_TARGET != 0) {
            s.to = to;
        } else if (flags & TO_NEXT_POOL != 0) {
            s.to = address(uint160(route[index + 1]));
        } else {
            s.to = address(this);
        }

        if (kind == UNISWAP_V3) _uniswapV3(s);
        else if (kind == UNISWAP_V2) _pair(s, step);
        else if (kind == SOLIDLY) _pair(s, step);
        else if (kind == UNISWAP_V4) _uniswapV4(s);
        else if (kind == LIQUIDITY_BOOK) _liquidityBook(s);
        else if (kind == BALANCER_V2) _balancer(s, bytes32(route[index + 1]));
        else {
            // These kinds pay their caller.
            s.to = address(this);
            if (kind == CURVE) _curve(s);
            else if (kind == WRAP) IWrapped(s.tokenOut).deposit{value: s.amount}();
            else if (kind == UNWRAP) IWrapped(s.tokenIn).withdraw(s.amount);
            else revert BadStep(step);
        }
        if (s.tokenOut == NATIVE) nativePayer = address(0);
        if (s.to == address(this)) held = 1 << uint8(step >> 232);
    }

    function _token(uint256[] calldata route, uint256 index) private pure returns (address) {
        if (index >= route[0]) revert BadStep(index);
        return address(uint160(route[1 + index]));
    }

    function _shareOf(address token, uint256 share) private view returns (uint256 amount) {
        uint256 balance = Transfers.balanceOf(token, address(this));
        amount = share == ALL ? balance : (balance * share) >> 24;
        if (amount > uint256(type(int256).max)) revert BadAmount(amount);
    }

    /// @dev Computes the output from the amount that reached the pool, so fee-on-transfer tokens work.
    function _pair(Step memory s, uint256 step) private {
        if (!s.prepaid) Transfers.pay(s.tokenIn, s.pool, s.amount);
        IPair pair = IPair(s.pool);
        bool zeroForOne = s.tokenIn < s.tokenOut;
        (uint256 reserveIn, uint256 reserveOut,) = pair.getReserves();
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        uint256 amountIn = Transfers.balanceOf(s.tokenIn, s.pool) - reserveIn;
        if (amountIn == 0) revert NoInput(step);
        uint256 out;
        if (step >> 248 == SOLIDLY) {
            out = pair.getAmountOut(amountIn, s.tokenIn);
        } else {
            // `extra` is the pool's fee in millionths.
            uint256 amountInAfterFee = amountIn * (1e6 - s.extra);
            out = amountInAfterFee * reserveOut / (reserveIn * 1e6 + amountInAfterFee);
        }
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), out) : (out, uint256(0));
        pair.swap(out0, out1, s.to, "");
    }

    function _uniswapV3(Step memory s) private {
        bool zeroForOne = s.tokenIn < s.tokenOut;
        _expectCallback(s);
        IUniswapV3Pool(s.pool)
            .swap(s.to, zeroForOne, int256(s.amount), zeroForOne ? LOWEST_PRICE : HIGHEST_PRICE, "");
        if (payee != address(0)) revert NotCalledBack(s.pool);
    }

    /// @dev `extra` is the pool's fee (24 bits) and tick spacing (16 bits).
    function _uniswapV4(Step memory s) private {
        _expectCallback(s);
        IPoolManager(s.pool).unlock(abi.encode(s.tokenOut, s.extra, s.to));
        if (payee != address(0)) revert NotCalledBack(s.pool);
    }

    /// @dev `extra` is 1 if the input is the pool's token X. The pool measures its input and reverts if it received nothing.
    function _liquidityBook(Step memory s) private {
        if (!s.prepaid) Transfers.pay(s.tokenIn, s.pool, s.amount);
        ILBPair(s.pool).swap(s.extra == 1, s.to);
    }

    function _balancer(Step memory s, bytes32 poolId) private {
        Transfers.approve(s.tokenIn, s.pool, s.amount);
        IBalancerVault(s.pool)
            .swap(
                IBalancerVault.SingleSwap(poolId, 0, s.tokenIn, s.tokenOut, s.amount, ""),
                IBalancerVault.FundManagement(address(this), false, s.to, false),
                0,
                block.timestamp
            );
        _resetAllowance(s);
    }

    /// @dev `extra` holds, from the top: 1 if the pool takes indexes as uint256, i (8 bits) and j (8 bits), the tokens' indexes.
    function _curve(Step memory s) private {
        Transfers.approve(s.tokenIn, s.pool, s.amount);
        uint8 i = uint8(s.extra >> 8);
        uint8 j = uint8(s.extra);
        if (s.extra >> 16 == 1) ICurvePool(s.pool).exchange(uint256(i), uint256(j), s.amount, 0);
        else ICurvePool(s.pool).exchange(int128(uint128(i)), int128(uint128(j)), s.amount, 0);
        _resetAllowance(s);
    }

    /// @dev No allowance outlives its step.
    function _resetAllowance(Step memory s) private {
        if (IERC20(s.tokenIn).allowance(address(this), s.pool) != 0) Transfers.approve(s.tokenIn, s.pool, 0);
    }

    function _expectCallback(Step memory s) private {
        (payee, owedToken, owedAmount) = (s.pool, s.tokenIn, s.amount);
    }

    /// @dev Only the pool of the current step is paid, and only once.
    function _takeExpectedCallback() private returns (address token, uint256 amount) {
        if (msg.sender != payee) revert UnexpectedCall(msg.sender);
        payee = address(0);
        return (owedToken, owedAmount);
    }

    /// @dev No balance of the route's tokens stays: the target token goes to `to`, all others go to `refund`. A native coin that the
    ///   route does not name was forced into this contract and stays.
    function _payBalances(uint256[] calldata route, uint256 held, address to, address refund) private {
        for (uint256 index = 0; held >> index != 0; index++) {
            if (held >> index & 1 == 0) continue;
            address token = _token(route, index);
            uint256 balance = Transfers.balanceOf(token, address(this));
            if (balance == 0) continue;
            // Unspent input must arrive. A rest of an intermediate native coin must not block callers that refuse it.
            if (token == NATIVE && index > 1) Transfers.tryPayNative(refund, balance);
            else Transfers.pay(token, index == 1 ? to : refund, balance);
        }
    }
}
