// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Says its name in 32 bytes, as MKR and SAI do.
contract Bytes32Token {
    bytes32 public constant name = "Maker";
    bytes32 public constant symbol = "MKR";
    uint8 public constant decimals = 18;
}

/// Has a name, but counts nothing: an ERC-721 looks like this.
contract Collection {
    string public constant name = "Apes";
    string public constant symbol = "APE";
}

/// Decimals that no amount could be printed with.
contract Absurd {
    string public constant name = "Absurd";
    string public constant symbol = "ABS";
    uint256 public constant decimals = 400;
}

/// Answers with a name that would fill the memory of whoever reads it.
contract Endless {
    uint8 public constant decimals = 6;
    string public constant symbol = "END";

    function name() external pure returns (string memory) {
        return string(new bytes(50_000_000));
    }
}

/// Never ends.
contract Looping {
    uint8 public constant decimals = 6;

    function symbol() external pure returns (string memory) {
        for (uint256 n = 1; n > 0; n++) {}
        return "";
    }
}

/// Refuses with an error of its own.
contract Grumpy {
    mapping(address => mapping(address => uint256)) public allowance;

    error NotToday(uint256 day);

    function balanceOf(address) external pure returns (uint256) {
        return 10 ** 30;
    }

    function approve(address, uint256) external pure returns (bool) {
        revert NotToday(3);
    }
}
