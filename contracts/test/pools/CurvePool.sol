// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "../../src/Transfers.sol";

interface IDecimals {
    function decimals() external view returns (uint256);
}

/// @dev Test implementation of a Curve pool of two or more coins: Curve's published StableSwap invariant, its events, the ramp of A,
///   the fee and its half that leaves the pool as admin fee. `age` selects the generation: StableSwap-NG (0), the factories
///   before it (1) or the pools of 2020 (2). `exchange` has both argument types and returns nothing, as in the oldest pools. Without
///   access control.
contract CurvePool {
    event TokenExchange(
        address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought
    );
    event AddLiquidity(address indexed by, uint256[] amounts, uint256[] fees, uint256 invariant, uint256 supply);
    event AddLiquidity(address indexed by, uint256[2] amounts, uint256[2] fees, uint256 invariant, uint256 supply);
    event AddLiquidity(address indexed by, uint256[3] amounts, uint256[3] fees, uint256 invariant, uint256 supply);
    event RemoveLiquidity(address indexed by, uint256[] amounts, uint256[] fees, uint256 supply);
    event RampA(uint256 old_A, uint256 new_A, uint256 initial_time, uint256 future_time);
    event ApplyNewFee(uint256 fee, uint256 offpeg_fee_multiplier);

    uint256 private constant FEE_ONE = 1e10;
    uint256 public constant admin_fee = 5e9;
    uint256 public immutable age;
    /// @dev Precision of A. The oldest pools store A as a whole number.
    uint256 private immutable AMP_ONE;
    address[] public coins;
    uint256[] private _rates;
    /// @dev Growth of each rate per second since `_since`, as with ERC-4626 tokens.
    uint256[] private _growths;
    uint256 private _since;
    uint256[] private _balances;
    uint256 public fee;
    uint256 private _offPeg;
    uint256 public totalSupply;
    /// @dev Amount withheld from every output on top of the fee, so that the pool deviates from its invariant.
    uint256 private _skew;
    uint256 public initial_A;
    uint256 public future_A;
    uint256 public initial_A_time;
    uint256 public future_A_time;

    constructor(address[] memory coins_, uint256 amp, uint256 fee_, uint256 offPeg, uint256 age_) {
        (coins, fee, _offPeg, age) = (coins_, fee_, offPeg, age_);
        AMP_ONE = age_ == 2 ? 1 : 100;
        initial_A = future_A = age_ == 2 ? amp : amp * 100;
        for (uint256 k = 0; k < coins_.length; k++) _rates.push(10 ** (36 - IDecimals(coins_[k]).decimals()));
        (_balances, _growths) = (new uint256[](coins_.length), new uint256[](coins_.length));
    }

    function offpeg_fee_multiplier() external view returns (uint256) {
        require(age == 0);
        return _offPeg;
    }

    function stored_rates() external view returns (uint256[] memory) {
        require(age == 0);
        return _ratesNow();
    }

    function _rate(uint256 k) private view returns (uint256) {
        return _rates[k] + _growths[k] * (block.timestamp - _since);
    }

    function _ratesNow() private view returns (uint256[] memory rates) {
        rates = new uint256[](_rates.length);
        for (uint256 k = 0; k < rates.length; k++) rates[k] = _rate(k);
    }

    /// @dev Changes a rate without an event, as a rate oracle does.
    function setRate(uint256 k, uint256 rate, uint256 growth) external {
        (_rates, _since) = (_ratesNow(), block.timestamp);
        (_rates[k], _growths[k]) = (rate, growth);
    }

    /// @dev Age 1 returns a static array, which is encoded without a length.
    function get_balances() external view returns (uint256[] memory result) {
        require(age < 2);
        result = _balances;
        if (age == 1) {
            assembly ("memory-safe") {
                return(add(result, 32), mul(mload(result), 32))
            }
        }
    }

    function balances(uint256 k) external view returns (uint256) {
        return _balances[k];
    }

    function A() external view returns (uint256) {
        return _amp() / AMP_ONE;
    }

    function A_precise() external view returns (uint256) {
        require(age < 2);
        return _amp();
    }

    function _amp() private view returns (uint256) {
        (uint256 t, uint256 t0, uint256 t1) = (block.timestamp, initial_A_time, future_A_time);
        if (t >= t1) return future_A;
        (uint256 a0, uint256 a1) = (initial_A, future_A);
        return a1 > a0 ? a0 + (a1 - a0) * (t - t0) / (t1 - t0) : a0 - (a0 - a1) * (t - t0) / (t1 - t0);
    }

    function get_virtual_price() external view returns (uint256) {
        return _d(_xp(), _amp()) * 1e18 / totalSupply;
    }

    /// @dev StableSwap-NG computes `get_dy` in a separate contract that truncates A to a whole number. The oldest pools subtract the fee
    ///   after scaling the output to the token's decimals.
    function get_dy(int128 i, int128 j, uint256 dx) external view returns (uint256 dy) {
        (dy,) = _dy(uint128(i), uint128(j), dx, age == 0 ? _amp() / AMP_ONE * AMP_ONE : _amp(), age == 2);
    }

    function exchange(int128 i, int128 j, uint256 dx, uint256 minOut) external {
        _exchange(uint128(i), uint128(j), dx, minOut);
    }

    function exchange(uint256 i, uint256 j, uint256 dx, uint256 minOut) external {
        _exchange(i, j, dx, minOut);
    }

    function _exchange(uint256 i, uint256 j, uint256 dx, uint256 minOut) private {
        (uint256 dy, uint256 toAdmin) = _dy(i, j, dx, _amp(), false);
        require(dy >= minOut);
        IERC20(coins[i]).transferFrom(msg.sender, address(this), dx);
        _balances[i] += dx;
        _balances[j] -= dy + toAdmin;
        IERC20(coins[j]).transfer(msg.sender, dy);
        emit TokenExchange(msg.sender, int128(uint128(i)), dx, int128(uint128(j)), dy);
    }

    /// @dev Without the fee that Curve charges for imbalanced deposits.
    function add_liquidity(uint256[] calldata amounts) external {
        uint256 before = totalSupply == 0 ? 0 : _d(_xp(), _amp());
        for (uint256 k = 0; k < amounts.length; k++) {
            if (amounts[k] > 0) IERC20(coins[k]).transferFrom(msg.sender, address(this), amounts[k]);
            _balances[k] += amounts[k];
        }
        uint256 d = _d(_xp(), _amp());
        totalSupply += before == 0 ? d : totalSupply * (d - before) / before;
        uint256[2] memory two;
        uint256[3] memory three;
        if (age == 0) emit AddLiquidity(msg.sender, amounts, amounts, d, totalSupply);
        else if (amounts.length == 2) emit AddLiquidity(msg.sender, two, two, d, totalSupply);
        else emit AddLiquidity(msg.sender, three, three, d, totalSupply);
    }

    function remove_liquidity(uint256 shares) external {
        uint256[] memory amounts = new uint256[](coins.length);
        for (uint256 k = 0; k < amounts.length; k++) {
            amounts[k] = _balances[k] * shares / totalSupply;
            _balances[k] -= amounts[k];
            IERC20(coins[k]).transfer(msg.sender, amounts[k]);
        }
        totalSupply -= shares;
        emit RemoveLiquidity(msg.sender, amounts, amounts, totalSupply);
    }

    function ramp_A(uint256 amp, uint256 time) external {
        (initial_A, future_A) = (_amp(), amp * AMP_ONE);
        (initial_A_time, future_A_time) = (block.timestamp, time);
        emit RampA(initial_A, future_A, block.timestamp, time);
    }

    function set_new_fee(uint256 fee_, uint256 offPeg) external {
        (fee, _offPeg) = (fee_, offPeg);
        emit ApplyNewFee(fee_, offPeg);
    }

    function setSkew(uint256 skew) external {
        _skew = skew;
        emit ApplyNewFee(fee, _offPeg);
    }

    /// @dev Sets the balances to the tokens held.
    function sync() external {
        for (uint256 k = 0; k < coins.length; k++) _balances[k] = IERC20(coins[k]).balanceOf(address(this));
        totalSupply = _d(_xp(), _amp());
    }

    function _xp() private view returns (uint256[] memory xp) {
        xp = _balances;
        for (uint256 k = 0; k < xp.length; k++) xp[k] = xp[k] * _rate(k) / 1e18;
    }

    function _dy(uint256 i, uint256 j, uint256 dx, uint256 amp, bool feeLast)
        private
        view
        returns (uint256 dy, uint256 toAdmin)
    {
        uint256[] memory xp = _xp();
        uint256 x = xp[i] + dx * _rate(i) / 1e18;
        uint256 y = _y(i, j, x, xp, amp);
        dy = xp[j] - y - 1;
        if (feeLast) {
            dy = dy * 1e18 / _rate(j);
            return (dy - dy * fee / FEE_ONE - _skew, 0);
        }
        uint256 feeAmount = dy * _fee((xp[i] + x) / 2, (xp[j] + y) / 2) / FEE_ONE;
        dy = (dy - feeAmount) * 1e18 / _rate(j) - _skew;
        toAdmin = feeAmount * admin_fee / FEE_ONE * 1e18 / _rate(j);
    }

    function _fee(uint256 xi, uint256 xj) private view returns (uint256) {
        if (age > 0 || _offPeg <= FEE_ONE) return fee;
        return _offPeg * fee / ((_offPeg - FEE_ONE) * 4 * xi * xj / (xi + xj) ** 2 + FEE_ONE);
    }

    function _d(uint256[] memory xp, uint256 amp) private view returns (uint256 d) {
        uint256 n = xp.length;
        uint256 s;
        for (uint256 k = 0; k < n; k++) s += xp[k];
        d = s;
        for (uint256 round = 0; round < 255; round++) {
            uint256 before = d;
            uint256 p = _spread(xp, d);
            uint256 ann = amp * n;
            d = (ann * s / AMP_ONE + p * n) * d / ((ann - AMP_ONE) * d / AMP_ONE + (n + 1) * p);
            if (d > before ? d - before <= 1 : before - d <= 1) return d;
        }
        revert();
    }

    /// @dev D^(n+1) ÷ (n^n·Πx). Pools of age 2, and of age 1 with three or more coins, divide by n in every step; all others divide by
    ///   n^n at the end. The order decides the rounding.
    function _spread(uint256[] memory xp, uint256 d) private view returns (uint256 p) {
        uint256 n = xp.length;
        bool stepwise = age == 2 || age == 1 && n > 2;
        p = d;
        for (uint256 k = 0; k < n; k++) p = stepwise ? p * d / (xp[k] * n) : p * d / xp[k];
        if (!stepwise) p /= n ** n;
    }

    function _y(uint256 i, uint256 j, uint256 x, uint256[] memory xp, uint256 amp) private view returns (uint256 y) {
        require(i != j);
        uint256 n = xp.length;
        uint256 d = _d(xp, amp);
        uint256 s;
        uint256 c = d;
        for (uint256 k = 0; k < n; k++) {
            if (k == j) continue;
            uint256 balance = k == i ? x : xp[k];
            s += balance;
            c = c * d / (balance * n);
        }
        c = c * d * AMP_ONE / (amp * n * n);
        uint256 b = s + d * AMP_ONE / (amp * n);
        y = d;
        for (uint256 round = 0; round < 255; round++) {
            uint256 before = y;
            y = (y * y + c) / (2 * y + b - d);
            if (y > before ? y - before <= 1 : before - y <= 1) return y;
        }
        revert();
    }
}
