import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.Ed25519Signer;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.JWKGenerator;
import com.nimbusds.jose.jwk.gen.OctetKeyPairGenerator;
import com.nimbusds.jose.jwk.gen.OctetSequenceKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes a key set and tokens with nimbus-jose-jwt: reads an order from standard input, prints what it made. */
class MakeTokens {
    public static void main(String[] words) throws Exception {
        var order = JSONObjectUtils.parse(new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
        var keys = new LinkedHashMap<String, JWK>();
        var published = new ArrayList<Object>();
        for (var wanted : JSONObjectUtils.getJSONObjectArray(order, "keys")) {
            var alg = JWSAlgorithm.parse((String) wanted.get("alg"));
            var kid = (String) wanted.get("kid");
            var key = generatorFor(alg).keyID(kid).keyUse(KeyUse.SIGNATURE).algorithm(alg).generate();
            keys.put(kid, key);
            // A set of public keys has no symmetric ones.
            published.add((key.toPublicJWK() == null ? key : key.toPublicJWK()).toJSONObject());
        }
        Map<String, Object> tokens = new LinkedHashMap<>();
        for (var wanted : JSONObjectUtils.getJSONObjectArray(order, "tokens")) {
            var claims = JWTClaimsSet.parse(JSONObjectUtils.getJSONObject(wanted, "claims"));
            tokens.put((String) wanted.get("name"), sign(wanted, claims, keys.get((String) wanted.get("key"))));
        }
        System.out.println(JSONObjectUtils.toJSONString(Map.of("keySet", Map.of("keys", published), "tokens", tokens)));
    }

    private static String sign(Map<String, Object> wanted, JWTClaimsSet claims, JWK key) throws Exception {
        if (wanted.get("alg").equals("none")) return new PlainJWT(claims).serialize();
        var header = new JWSHeader.Builder(JWSAlgorithm.parse((String) wanted.get("alg")));
        var token = new SignedJWT(header.keyID((String) wanted.get("kid")).build(), claims);
        token.sign(signerOf(key));
        return token.serialize();
    }

    private static JWKGenerator<? extends JWK> generatorFor(JWSAlgorithm alg) {
        if (JWSAlgorithm.Family.RSA.contains(alg)) return new RSAKeyGenerator(2048);
        if (JWSAlgorithm.Family.EC.contains(alg)) return new ECKeyGenerator(Curve.forJWSAlgorithm(alg).iterator().next());
        if (JWSAlgorithm.Family.ED.contains(alg)) return new OctetKeyPairGenerator(Curve.Ed25519);
        return new OctetSequenceKeyGenerator(512);
    }

    private static JWSSigner signerOf(JWK key) throws Exception {
        if (key instanceof RSAKey rsa) return new RSASSASigner(rsa);
        if (key instanceof ECKey ec) return new ECDSASigner(ec);
        if (key instanceof OctetKeyPair pair) return new Ed25519Signer(pair);
        return new MACSigner((OctetSequenceKey) key);
    }
}
